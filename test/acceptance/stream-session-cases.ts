// A session from its welcome to its end: who may come in, how many, and what a message must look like.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body } from './api.ts'
import { refusalOf, type StreamClient } from './stream-client.ts'
import { isReceived } from './stream-ledger.ts'
import type { Stage } from './stream-stage.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const SESSIONS_MAX = 10
const NOT_UNDERSTOOD: readonly unknown[] = [
  '',
  '{',
  'null',
  '5',
  '"ping"',
  '[]',
  '[{"action":"ping"}]',
  '{"action":"ping"}{"action":"ping"}',
  '['.repeat(30_000),
  {},
  { action: null },
  { action: 5 },
  { action: 'fly' },
  { action: 'Ping' },
  { action: 'constructor' },
  { type: 'ping' },
  { action: 'ping', seq: '1' },
  { action: 'ping', seq: 1.5 },
  { action: 'unsubscribe_user' },
  { action: 'unsubscribe_user', user_id: 5 },
  Buffer.from('{"action":"ping"}')
]

export function sessionCases(open: () => Stage): void {
  /** What becomes of `messages` on one session, and the session. */
  const tried = async (client: StreamClient, attempts: readonly Body[]): Promise<readonly Body[]> => {
    const replies: Body[] = []
    for (const attempt of attempts) replies.push(await client.ask({ action: 'authenticate', ...attempt }))
    return replies
  }

  test('a plain request gets 426, and an upgrade elsewhere leads nowhere [S56]', async () => {
    const { service, api } = open()
    const plain = await fetch(`${service.url}/stream`)
    assert.equal(plain.status, 426)
    assert.match(plain.headers.get('upgrade') ?? '', /websocket/i)
    const problem: Body = await plain.json()
    assert.equal(typeof problem.message, 'string')
    assert.equal(problem.request_id, plain.headers.get('x-request-id'))
    for (const path of ['/', '/users', '/stream/more', '/streams', '/nowhere']) {
      const { status, body } = await refusalOf(service.url + path)
      assert.equal(status, 404, path)
      assert.equal(typeof body.message, 'string', path)
    }
    assert.equal((await api.call('GET', '/users', { headers: api.platform })).status, 200)
  })

  test('the first message is the welcome, with an id of the session’s own; nothing is compressed [S51]', async () => {
    await using one = await open().unauthenticated()
    await using other = await open().unauthenticated()
    const [first, second] = [one.received[0]?.message, other.received[0]?.message]
    assert.equal(first.type, 'welcome')
    assert.match(first.session_id, UUID)
    assert.notEqual(first.session_id, second.session_id)
    assert.equal(one.negotiated, '')
  })

  test('the platform’s credentials let in, and the version is echoed', async () => {
    for (const more of [{}, { version: 'v1.0' }, { version: 'v1.0', extensions: [] }, { extensions: ['stream_status'] }]) {
      await using client = await open().unauthenticated()
      const [reply] = await tried(client, [{ ...open().credentials, ...more }])
      assert.deepEqual([reply.type, reply.version], ['auth_success', 'v1.0'])
      assert.equal(typeof reply.message, 'string')
      await client.quiet()
    }
  })

  test('what does not let in is answered with auth_error, reveals nothing about what was wrong, and may be tried again', async () => {
    const { credentials } = open()
    const { client_id, client_secret } = credentials
    const wrong: readonly Body[] = [
      { client_id, client_secret: `${client_secret.slice(0, -1)}${client_secret.endsWith('A') ? 'B' : 'A'}` },
      { client_id: 'pk_nobody', client_secret },
      { client_id: client_secret, client_secret: client_id },
      { client_id: '', client_secret: '' }
    ]
    const malformed: readonly Body[] = [
      { client_secret },
      { client_id },
      {},
      { client_id: 5, client_secret },
      { client_id, client_secret: [client_secret] },
      { client_id, client_secret: null },
      { ...credentials, version: 'v1.1' },
      { ...credentials, version: 'V1.0' },
      { ...credentials, version: '1.0' },
      { ...credentials, version: '' },
      { ...credentials, version: 1 },
      { ...credentials, extensions: 'stream_status' }
    ]
    const messages: string[] = []
    for (const attempts of [wrong, malformed.slice(0, 4), malformed.slice(4, 8), malformed.slice(8)]) {
      await using client = await open().unauthenticated()
      for (const [index, reply] of (await tried(client, attempts)).entries()) {
        assert.equal(reply.type, 'auth_error', JSON.stringify(attempts[index]))
        if (attempts === wrong) messages.push(reply.message)
        assert.ok(!reply.message.includes(client_secret), 'a secret is not repeated')
      }
      await client.authenticate(credentials)
      await client.quiet()
    }
    assert.equal(new Set(messages).size, 1, 'an unknown client and a wrong secret look alike')
  })

  test('five failures end the session', async () => {
    await using client = await open().unauthenticated()
    const replies = await tried(client, Array(5).fill({ client_id: 'pk_nobody', client_secret: 'sk_nothing' }))
    assert.ok(replies.every(({ type }) => type === 'auth_error'))
    assert.equal((await client.ended()).code, 4029)
  })

  test('a second authentication is answered with auth_error and changes nothing, however often [S48]', async () => {
    const stage = open()
    const ada = await stage.trader('ada')
    await using client = await stage.session(['orders'])
    await client.follow(ada.userId)
    const repeats = [
      stage.credentials,
      { client_id: 'pk_nobody', client_secret: 'sk_nothing' },
      {},
      { ...stage.credentials, version: 'v9' }
    ]
    for (const reply of await tried(client, [...repeats, ...repeats])) assert.equal(reply.type, 'auth_error')
    const { cl_order_id } = await ada.buy()
    await client.until(() => isReceived(client.updates, cl_order_id, 'filled'), 'the order is filled')
  })

  test('before authentication subscriptions fail without effect, and everything else is ignored [S48]', async () => {
    const stage = open()
    const ada = await stage.trader('ada')
    await using watcher = await stage.session(['all'])
    await watcher.follow(ada.userId)
    await using topicsEarly = await stage.unauthenticated()
    await using userEarly = await stage.unauthenticated()
    for (const client of [topicsEarly, userEarly]) {
      for (const message of NOT_UNDERSTOOD) client.send(message)
      client.send({ action: 'ping', seq: 1 })
      client.send({ action: 'unsubscribe_user', user_id: ada.userId })
    }
    assert.equal((await topicsEarly.ask({ action: 'subscribe', topics: ['all'] })).type, 'subscription_failed')
    assert.equal((await userEarly.ask({ action: 'subscribe_user', user_id: ada.userId })).type, 'subscription_failed')
    for (const client of [topicsEarly, userEarly]) await client.authenticate(stage.credentials)
    await topicsEarly.follow(ada.userId)
    await userEarly.subscribe('all')
    const { cl_order_id } = await ada.buy()
    await watcher.until(() => isReceived(watcher.updates, cl_order_id, 'filled'), 'the order is filled')
    for (const client of [topicsEarly, userEarly]) {
      await client.quiet()
      assert.deepEqual(client.updates, [])
    }
  })

  test('what cannot be understood is answered with an error, and the session goes on', async () => {
    await using client = await open().session()
    for (const message of NOT_UNDERSTOOD) {
      const reply = await client.ask(message)
      assert.equal(reply.type, 'error', `${JSON.stringify(message).slice(0, 100)} → ${JSON.stringify(reply)}`)
      assert.ok(reply.message.length > 10)
    }
    await client.quiet()
  })

  test('a ping is answered with its seq', async () => {
    await using client = await open().session()
    for (const seq of [0, 1, -7, Number.MAX_SAFE_INTEGER])
      assert.deepEqual(await client.ask({ action: 'ping', seq }), { type: 'pong', seq })
    const bare = await client.ask({ action: 'ping' })
    assert.deepEqual([bare.type, bare.seq ?? null], ['pong', null])
  })

  test('a client has ten authenticated sessions at most, and a place that is freed can be taken at once', async () => {
    const stage = open()
    await using sessions = new AsyncDisposableStack()
    const more = async (): Promise<StreamClient> => sessions.use(await stage.unauthenticated())
    const all = await Promise.all(Array.from({ length: SESSIONS_MAX + 3 }, more))
    const attempt = { action: 'authenticate', ...stage.credentials }
    const replies = await Promise.all(all.map(client => client.ask(attempt)))
    const refused = all.filter((_, index) => replies[index].type === 'auth_error')
    assert.equal(refused.length, 3, 'the limit is exact also for those who come at once')
    for (const { type, message } of replies) if (type === 'auth_error') assert.match(message, /\b10\b.*session|session.*\b10\b/)
    const [eleventh, ...rest] = refused
    const holder = all.find(client => !refused.includes(client))
    assert.ok(eleventh !== undefined && holder !== undefined)
    const other = await stage.otherPlatform('Another')
    await (await more()).authenticate(other)
    await holder.close()
    await eleventh.authenticate(stage.credentials)
    for (const client of rest) assert.equal((await client.ask(attempt)).type, 'auth_error')
    for (const client of all.filter(one => one !== holder && !rest.includes(one))) await client.quiet()
  })

  test('when a client secret is replaced its sessions end, and it lets nobody in any more', async () => {
    const stage = open()
    const old = await stage.otherPlatform('Rotating')
    await using client = await stage.unauthenticated()
    await client.authenticate(old)
    await using own = await stage.session()
    const fresh = await stage.rotateSecret(old)
    assert.equal((await client.ended()).code, 4001)
    await own.quiet()
    await using next = await stage.unauthenticated()
    assert.equal(
      (await next.ask({ action: 'authenticate', client_id: old.client_id, client_secret: old.client_secret })).type,
      'auth_error'
    )
    await next.authenticate(fresh)
  })
}
