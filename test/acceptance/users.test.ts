// Users: creating, listing in both directions, rotating a secret, deleting.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Answer, Api, type Body } from './api.ts'
import { type RunningService, startService } from './harness.ts'

describe('users', () => {
  let service: RunningService
  let api: Api
  before(async () => {
    service = await startService('embedded')
    api = await Api.of(service)
  })
  after(() => service[Symbol.asyncDispose]())

  const users = (query: string): Promise<Answer> => api.call('GET', `/users${query}`, { headers: api.platform })

  test('a new user gets its secret once, and it gives access', async () => {
    const { status, body } = await api.call('POST', '/users', { headers: api.platform, body: { user_id: 'ada' } })
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body).sort(), ['user-secret', 'user_id'])
    assert.match(body['user-secret'], /^us_[\w-]{43}$/)
    const accounts = await api.call('GET', '/accounts', { headers: api.as({ userId: 'ada', secret: body['user-secret'] }) })
    assert.equal(accounts.status, 200)
    assert.deepEqual(accounts.body, [])
  })

  test('a name is taken once', async () => {
    await api.user('twice')
    const { status, body } = await api.call('POST', '/users', { headers: api.platform, body: { user_id: 'twice' } })
    assert.equal(status, 409)
    assert.equal(body.code, 'user_exists')
  })

  test('of two at once one wins', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.call('POST', '/users', { headers: api.platform, body: { user_id: 'race' } }))
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)])
  })

  test('any printable name works, as body, header and path', async () => {
    for (const name of ['Zoë', 'a, b', '日本', "o'hara/50%", '😀'.repeat(16), 'x'.repeat(64), "'; drop table users; --"]) {
      const user = await api.user(name)
      const header = Buffer.from(name, 'utf8').toString('latin1')
      const { status } = await api.call('GET', '/connections', { headers: { ...api.as(user), 'user-id': header } })
      assert.equal(status, 200, name)
      const gone = await api.call('DELETE', `/users/${encodeURIComponent(name)}`, { headers: api.platform })
      assert.deepEqual([gone.status, gone.body], [200, { user_id: name }])
    }
  })

  test('pages go forward and backward without skipping or repeating a row, whatever is inserted meanwhile', async () => {
    const names = Array.from({ length: 25 }, (_, at) => `page-${String(at).padStart(2, '0')}`)
    for (const name of names) await api.user(name)
    for (const sort of ['created_at:asc', 'created_at:desc', 'user_id:asc', 'user_id:desc']) {
      const whole = (await users(`?limit=1000&sort=${sort}`)).body.data.map((row: Body) => row.user_id)
      assert.ok(whole.length >= 25)
      const pages: string[][] = []
      let answer = await users(`?limit=7&sort=${sort}`)
      assert.equal(answer.body.prev_cursor, null)
      for (let at = 0; ; at++) {
        pages.push(answer.body.data.map((row: Body) => row.user_id))
        if (answer.body.next_cursor === null) break
        await api.user(`meanwhile-${sort}-${at}`)
        answer = await users(`?limit=7&sort=${sort}&next_cursor=${answer.body.next_cursor}`)
      }
      const seen = pages.flat().filter(name => whole.includes(name))
      assert.deepEqual(seen, whole, `forward, ${sort}`)
      const back: string[][] = []
      while (answer.body.prev_cursor !== null) {
        answer = await users(`?limit=7&sort=${sort}&prev_cursor=${answer.body.prev_cursor}`)
        assert.equal(answer.status, 200)
        back.unshift(answer.body.data.map((row: Body) => row.user_id))
      }
      const returned = back.flat().filter(name => whole.includes(name))
      assert.deepEqual(returned, whole.slice(0, returned.length), `backward, ${sort}`)
      assert.ok(returned.length > 0)
    }
  })

  test('filters narrow the list', async () => {
    const only = await users('?user_id=ada')
    assert.deepEqual(
      only.body.data.map((row: Body) => row.user_id),
      ['ada']
    )
    const { created_at: created } = only.body.data[0]
    const exact = await users(`?start_time=${created}&end_time=${created}`)
    assert.ok(
      exact.body.data.some((row: Body) => row.user_id === 'ada'),
      'both ends are inclusive'
    )
    const offset = await users(`?user_id=ada&start_time=${encodeURIComponent('2020-01-01T00:00:00+02:00')}`)
    assert.equal(offset.body.data.length, 1)
    assert.deepEqual((await users('?end_time=2020-01-01T00:00:00Z')).body.data, [])
    assert.deepEqual((await users('?account_number=none')).body.data, [])
    for (const name of ['account_id', 'connection_id']) {
      assert.deepEqual((await users(`?${name}=00000000-0000-4000-8000-000000000000`)).body.data, [])
    }
  })

  test('a rotated secret ends the old one at once [S30]', async () => {
    const old = await api.user('rotating')
    const { status, body } = await api.call('POST', '/users/rotating/rotate-secret', { headers: api.platform })
    assert.equal(status, 200)
    assert.equal(body.user_id, 'rotating')
    assert.notEqual(body['user-secret'], old.secret)
    assert.equal((await api.call('GET', '/accounts', { headers: api.as(old) })).status, 401)
    const fresh = { userId: 'rotating', secret: body['user-secret'] }
    assert.equal((await api.call('GET', '/accounts', { headers: api.as(fresh) })).status, 200)
    const unknown = await api.call('POST', '/users/nobody/rotate-secret', { headers: api.platform, body: {} })
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'user_not_found'])
  })

  test('a deleted user is gone, and its name is free again [S31]', async () => {
    const old = await api.user('leaving')
    const { status, body } = await api.call('DELETE', '/users/leaving', { headers: api.platform })
    assert.deepEqual([status, body], [200, { user_id: 'leaving' }])
    assert.equal((await api.call('GET', '/accounts', { headers: api.as(old) })).status, 401)
    assert.equal((await api.call('DELETE', '/users/leaving', { headers: api.platform })).status, 400)
    const again = await api.user('leaving')
    assert.equal((await api.call('GET', '/accounts', { headers: api.as(old) })).status, 401)
    assert.equal((await api.call('GET', '/accounts', { headers: api.as(again) })).status, 200)
  })
})
