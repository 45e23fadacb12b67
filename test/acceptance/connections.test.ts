// Connections: from the link to the redirect, listing for the user and for the platform, tokens, deletion.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Api, type Body } from './api.ts'
import { type RunningService, startService } from './harness.ts'
import { approve, begin, link, REDIRECT } from './linking.ts'
import { Walker } from './walker.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

describe('connections', () => {
  let service: RunningService
  let api: Api
  before(async () => {
    service = await startService('embedded')
    api = await Api.of(service)
  })
  after(() => service[Symbol.asyncDispose]())

  test('a link leads to a connection, and back to the platform with its id', async () => {
    const ada = await api.user('ada')
    const headers = api.as(ada)
    const started = await api.call('POST', '/connections', {
      headers,
      body: { type: 'trade', broker: 'SANDBOX', redirect_url: REDIRECT }
    })
    assert.equal(started.status, 201)
    assert.ok(started.body.authorization_url.startsWith(`${service.url}/connect/`))
    const lifetime = Date.parse(started.body.expires_at) - Date.parse(started.headers.get('date') ?? '')
    assert.ok(Math.abs(lifetime - 30 * 60_000) < 5_000)
    assert.deepEqual((await api.call('GET', '/connections', { headers })).body, [], 'an attempt is never listed')
    const ended = await approve(api, started.body.authorization_url)
    assert.deepEqual([...ended.searchParams.keys()], ['connection_id'])
    const { body: connections } = await api.call('GET', '/connections', { headers })
    assert.equal(connections.length, 1)
    const [connection] = connections
    assert.equal(connection.connection_id, ended.searchParams.get('connection_id'))
    assert.match(connection.connection_id, UUID)
    const { user_id, broker, connection_type, status, accounts } = connection
    assert.deepEqual(
      { user_id, broker, connection_type, status },
      { user_id: 'ada', broker: 'SANDBOX', connection_type: 'trade', status: 'ACTIVE' }
    )
    assert.ok(accounts.length >= 2)
    const { body: listed } = await api.call('GET', '/accounts', { headers })
    const pair = ({ account_id, account_number }: Body) => ({ account_id, account_number })
    assert.deepEqual(accounts.map(pair).toSorted(byId), listed.map(pair).toSorted(byId))
  })

  test('who declines is sent to the error address with 401', async () => {
    const bob = await api.user('bob')
    for (const [body, target] of [
      [{ redirect_on_error_url: `${REDIRECT}/failed?x=1` }, `${REDIRECT}/failed`],
      [{}, REDIRECT]
    ] as const) {
      const walker = new Walker(REDIRECT)
      const place = await walker.open(await begin(api, bob, { connection_type: 'trade', broker: 'SANDBOX', ...body }))
      const ended = new URL((await walker.submit(place, { decision: 'decline' })).url)
      assert.equal(ended.origin + ended.pathname, target)
      assert.equal(ended.searchParams.get('error'), '401')
      assert.ok((ended.searchParams.get('error_details') ?? '').length > 0)
      assert.equal(ended.searchParams.get('connection_id'), null)
    }
    assert.deepEqual((await api.call('GET', '/connections', { headers: api.as(bob) })).body, [])
  })

  test('each login is a connection of its own, listed newest first, and filters narrow the lists', async () => {
    const eve = await api.user('eve')
    const made = [await link(api, eve), await link(api, eve, 'readonly'), await link(api, eve, 'trade', 1)].reverse()
    const headers = api.as(eve)
    const ids = async (query: string) =>
      (await api.call('GET', `/connections${query}`, { headers })).body.map((row: Body) => row.connection_id)
    assert.deepEqual(await ids(''), made)
    assert.deepEqual(await ids('?status=ACTIVE'), made)
    assert.deepEqual(await ids('?status=BROKEN'), [])
    const { body: accounts } = await api.call('GET', '/accounts', { headers })
    assert.equal(new Set(accounts.map((row: Body) => row.account_id)).size, accounts.length, 'account ids of its own')
    const { body: some } = await api.call('GET', `/accounts?connection_id=${made[0]}`, { headers })
    assert.ok(some.length > 0 && some.every((row: Body) => row.connection_id === made[0]))
    assert.deepEqual((await api.call('GET', '/accounts?broker=SANDBOX', { headers })).body.length, accounts.length)
    assert.deepEqual((await api.call('GET', '/accounts?broker=OTHER', { headers })).body, [])
    for (const query of [
      `account_id=${some[0].account_id}`,
      `connection_id=${made[0]}`,
      `account_id=${some[0].account_id}&connection_id=${made[0]}`
    ]) {
      const { body: users } = await api.call('GET', `/users?${query}`, { headers: api.platform })
      assert.deepEqual(
        users.data.map((row: Body) => row.user_id),
        ['eve'],
        query
      )
    }
    const { body: byNumber } = await api.call('GET', `/users?account_number=${some[0].account_number}`, { headers: api.platform })
    assert.ok(byNumber.data.some((row: Body) => row.user_id === 'eve'))
  })

  test('the platform pages through the connections of all its users', async () => {
    const list = (query: string) => api.call('GET', `/platform/connections${query}`, { headers: api.platform })
    const whole = (await list('?limit=1000')).body.data
    assert.ok(whole.length >= 4)
    assert.deepEqual(
      whole,
      whole.toSorted((a: Body, b: Body) => (a.created_at < b.created_at ? 1 : -1)),
      'newest first'
    )
    const seen: Body[] = []
    let page = (await list('?limit=3')).body
    for (;;) {
      seen.push(...page.data)
      if (page.next_cursor === null) break
      page = (await list(`?limit=3&next_cursor=${page.next_cursor}`)).body
    }
    assert.deepEqual(seen, whole)
    const back = (await list(`?limit=1000&prev_cursor=${page.prev_cursor}`)).body
    assert.deepEqual(back.data, whole.slice(0, whole.length - page.data.length))
    assert.deepEqual((await list('?status=BROKEN')).body, { data: [], next_cursor: null, prev_cursor: null })
    assert.deepEqual((await list('?status=ACTIVE&limit=1000')).body.data, whole)
  })

  test('a token for market data is new each time and valid for a day', async () => {
    const tess = await api.user('tess')
    const connectionId = await link(api, tess, 'market_data')
    const token = () => api.call('GET', `/connections/${connectionId}/token`, { headers: api.as(tess) })
    const [first, second] = [await token(), await token()]
    assert.equal(first.status, 200)
    assert.match(first.body.access_token, /^mdt_[\w-]{43}$/)
    assert.notEqual(first.body.access_token, second.body.access_token)
    assert.equal(first.body.expires_in, 86_400)
    const lifetime = Date.parse(first.body.expires_at) - Date.parse(first.headers.get('date') ?? '')
    assert.ok(Math.abs(lifetime - 86_400_000) < 5_000)
  })

  test('a deleted connection is gone with its accounts', async () => {
    const del = await api.user('del')
    const headers = api.as(del)
    const connectionId = await link(api, del)
    const { body: accounts } = await api.call('GET', '/accounts', { headers })
    const { status, body } = await api.call('DELETE', `/connections/${connectionId}`, { headers })
    assert.deepEqual([status, body], [200, { connection_id: connectionId }])
    assert.deepEqual((await api.call('GET', '/connections', { headers })).body, [])
    assert.deepEqual((await api.call('GET', '/accounts', { headers })).body, [])
    assert.equal((await api.call('DELETE', `/connections/${connectionId}`, { headers })).status, 404)
    assert.equal((await api.call('GET', `/connections/${connectionId}/token`, { headers })).status, 404)
    assert.equal((await api.call('GET', `/balances?account_id=${accounts[0].account_id}`, { headers })).status, 404)
  })

  test('a deleted user’s connections are gone too [S31]', async () => {
    const rex = await api.user('rex')
    const connectionId = await link(api, rex)
    await api.call('DELETE', '/users/rex', { headers: api.platform })
    const { body } = await api.call('GET', '/platform/connections?limit=1000', { headers: api.platform })
    assert.ok(body.data.every((row: Body) => row.connection_id !== connectionId))
    const again = await api.user('rex')
    assert.deepEqual((await api.call('GET', '/connections', { headers: api.as(again) })).body, [])
  })
})

function byId(a: Body, b: Body): number {
  return a.account_id < b.account_id ? -1 : 1
}
