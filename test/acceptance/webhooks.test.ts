// Webhooks as a platform meets them: created, received, verified, failing, going on, and sent again.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { until } from '@trunkline/testkit/until'
import { type Answer, Api, type Body, type User } from './api.ts'
import { type RunningService, startService } from './harness.ts'
import { connectAda } from './linking.ts'
import { blocksIn } from './snippets.ts'
import { WebhookReceiver } from './webhook-receiver.ts'

const NETWORKS = { TRUNKLINE_WEBHOOK_NETWORKS: '127.0.0.0/8' }
const UNKNOWN = '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'

describe('webhooks', () => {
  let service: RunningService
  let api: Api
  let ada: User
  let accountId: string
  let receiver: WebhookReceiver
  let endpoint: Body
  let count = 0
  before(async () => {
    service = await startService('embedded', NETWORKS)
    ;({ api, ada, accountId } = await connectAda(service))
    receiver = await WebhookReceiver.open()
  })
  after(async () => {
    await receiver[Symbol.asyncDispose]()
    await service[Symbol.asyncDispose]()
  })

  const call = (method: string, path = '', body?: unknown): Promise<Answer> =>
    api.call(method, `/webhook-endpoints${path}`, { headers: api.platform, ...(body !== undefined && { body }) })
  const good = async (method: string, path = '', body?: unknown): Promise<Body> => {
    const answer = await call(method, path, body)
    assert.ok([200, 201].includes(answer.status), answer.text)
    return answer.body
  }
  const own = (path = '') => `/${endpoint.endpoint_id}${path}`
  const place = async () => {
    const ticket = {
      account_id: accountId,
      broker: 'SANDBOX',
      side: 'BUY',
      symbol: 'AAPL',
      order_type: 'MKT',
      order_tif: 'DAY',
      order_qty: '1'
    }
    const body = { ...ticket, cl_order_id: `webhook-${++count}` }
    const { status, text } = await api.call('POST', '/orders', { headers: api.as(ada), body })
    assert.equal(status, 201, text)
  }
  const log = async (): Promise<readonly Body[]> => {
    const { body } = await api.call('GET', '/events?user_id=ada&limit=1000', { headers: api.platform })
    return body.data
  }
  /** Each update once, in the order of the log, from `after` on. */
  const receives = (after: number) =>
    until(async () => {
      const expected = (await log()).filter(({ seq }) => seq > after)
      const got = receiver.events.filter(({ seq }) => seq > after)
      return expected.length > 0 && JSON.stringify(got) === JSON.stringify(expected)
    }, 'the endpoint has what the log has')
  const newest = async () => (await log()).at(-1)?.seq ?? 0
  const deliveries = async (query = ''): Promise<readonly Body[]> => (await good('GET', own(`/deliveries${query}`))).data

  test('a new endpoint is sent what comes from then on, signed, in the bytes and the order of the log', async () => {
    await place()
    await until(async () => (await log()).some(({ data }) => data.normalized_status === 'filled'), 'the order is filled')
    const start = await newest()
    const { secret, ...made } = await good('POST', '', { url: receiver.url, description: 'books' })
    endpoint = made
    receiver.secrets = [secret]
    receiver.publicKeys = made.public_keys
    const before = await newest()
    await place()
    await receives(before)
    assert.ok(receiver.events.every(({ seq }) => seq > start))
    assert.ok(receiver.events.some(({ type, data }) => type === 'orders' && data.normalized_status === 'pending'))
    await until(async () => (await good('GET', own())).lag.updates === 0, 'the progress is written')
    const { last_success_at: at, failing_since: since } = await good('GET', own())
    assert.deepEqual([at === null, since], [false, null])
    assert.ok(!JSON.stringify(await good('GET')).includes(secret))
  })

  test('what an endpoint did not take is sent once it is back, in order, and every attempt is on record', async () => {
    const before = await newest()
    await receiver.leave()
    for (let order = 0; order < 3; order += 1) await place()
    await until(async () => (await deliveries('?outcome=failed')).some(({ failure }) => failure === 'connect'), 'an attempt failed')
    assert.equal((await good('GET', own())).lag.users, 1)
    await receiver.comeBack()
    await receives(before)
    const [first] = (await deliveries('?outcome=failed')).toReversed()
    const tries = await deliveries(`?message_id=${first.message_id}`)
    assert.deepEqual([tries.at(0)?.failure, tries.at(0)?.reason, tries.at(-1)?.failure], [null, 'retry', 'connect'])
    const { request_body: body, request_headers: headers } = await good('GET', own(`/deliveries/${tries[0].delivery_id}`))
    const kept = receiver.received.find(({ id }) => id === first.message_id)
    assert.equal(body, kept?.raw)
    assert.ok(headers.some(({ name, value }: Body) => name === 'webhook-id' && value === first.message_id))
  })

  test('a change of an endpoint that fails ends its waits: what is repaired goes on at once', async () => {
    const before = await newest()
    receiver.status = 500
    receiver.retryAfter = '99999999999'
    await place()
    await until(async () => (await deliveries('?outcome=failed'))[0]?.failure === 'status', 'an attempt failed')
    const { retry_at: again } = (await deliveries('?outcome=failed'))[0]
    assert.ok(Date.parse(again) - Date.now() > 23 * 3_600_000, 'the receiver asked for more than a day, and has one')
    receiver.status = 204
    receiver.retryAfter = null
    await good('PATCH', own(), { enabled: true })
    await receives(before)
  })

  test('a redirect is not followed [S76]', async () => {
    await using inside = await WebhookReceiver.open()
    receiver.status = 302
    receiver.location = inside.url
    const { status, failure } = await good('POST', own('/test'))
    assert.deepEqual([status, failure], [302, 'redirect'])
    assert.equal(inside.received.length, 0)
    receiver.status = 204
    receiver.location = null
    assert.deepEqual((await good('POST', own('/test'))).failure, null)
    assert.deepEqual(receiver.received.find(({ type }) => type === 'test')?.events, [])
  })

  test('keys are rotated with an overlap, in which both sign', async () => {
    assert.deepEqual(receiver.refusals, [])
    const [old] = receiver.secrets
    const { secret, public_keys: keys } = await good('POST', own('/rotate-keys'), { overlap_hours: 1 })
    assert.notEqual(secret, old)
    receiver.secrets = [secret, old ?? '']
    receiver.publicKeys = keys
    assert.equal(keys.length, 2)
    assert.equal((await good('POST', own('/test'))).failure, null)
    const last = await good('POST', own('/rotate-keys'), { overlap_hours: 0 })
    receiver.secrets = [last.secret]
    receiver.publicKeys = last.public_keys
    assert.equal(last.public_keys.length, 1, 'after a leak no old key signs')
    assert.equal((await good('POST', own('/test'))).failure, null)
    const many = await Promise.all(Array.from({ length: 6 }, () => call('POST', own('/rotate-keys'), { overlap_hours: 0 })))
    assert.deepEqual(
      many.map(({ status }) => status),
      [200, 200, 200, 200, 200, 200]
    )
    const newest = await good('POST', own('/rotate-keys'), { overlap_hours: 0 })
    receiver.secrets = [newest.secret]
    receiver.publicKeys = newest.public_keys
    // An update between a rotation and its answer is signed with a key that the receiver does not know yet.
    await until(async () => (await good('GET', own())).lag.updates === 0, 'what it refused came again')
    receiver.refusals.length = 0
  })

  test('a filter passes the rest over, and updates are sent again by message and by range', async () => {
    const before = await newest()
    const changed = await good('PATCH', own(), { topics: ['orders'], order_statuses: ['filled'] })
    assert.deepEqual([changed.topics, changed.order_statuses, changed.description], [['orders'], ['filled'], 'books'])
    await place()
    await until(() => receiver.events.some(({ seq }) => seq > before), 'the endpoint has the execution')
    await until(async () => (await good('GET', own())).lag.updates === 0, 'the rest was passed over')
    assert.deepEqual([...new Set(receiver.events.filter(({ seq }) => seq > before).map(({ data }) => data.normalized_status))], ['filled'])
    const message = receiver.received.at(-1) ?? assert.fail()
    await good('POST', own('/replay'), { message_id: message.id })
    await until(() => receiver.received.filter(({ id }) => id === message.id).length === 2, 'the message came again')
    assert.equal(receiver.received.filter(({ id }) => id === message.id)[1]?.raw, message.raw)
    await good('PATCH', own(), { topics: null, order_statuses: null })
    const { delivery_id: attempt } = (await deliveries(`?message_id=${message.id}`))[0]
    assert.equal(
      (await good('GET', own(`/deliveries/${attempt}`))).request_body,
      message.raw,
      'the body that was sent, by the filter of then'
    )
    await good('POST', own('/replay'), { message_id: message.id })
    await until(() => receiver.received.filter(({ id }) => id === message.id).length === 3, 'the same message came once more')
    assert.equal(receiver.received.filter(({ id }) => id === message.id)[2]?.raw, message.raw)
    receiver.received.length = 0
    const beyond = await call('POST', own('/replay'), { user_id: 'ada', from_seq: 1_000_000, to_seq: 1_000_001 })
    assert.deepEqual([beyond.status, beyond.body.code, beyond.body.details[0].path], [400, 'field_invalid', 'from_seq'])
    await good('POST', own('/replay'), { user_id: 'ada', from_seq: 1, to_seq: 5 })
    // An update of now, such as the balances after an execution, may come between them.
    const again = () => receiver.events.filter(({ seq }) => seq <= 5)
    await until(() => again().length === 5, 'five updates came again')
    assert.deepEqual(again(), (await log()).slice(0, 5))
    const { id = '' } = receiver.received.find(({ events }) => events.some(({ seq }) => seq <= 5)) ?? {}
    assert.equal((await deliveries(`?message_id=${id}`))[0].reason, 'replay')
  })

  test('two changes at once are both made', async () => {
    for (const round of [1, 2, 3, 4]) {
      await good('PATCH', own(), { topics: null, order_statuses: null })
      const both = [{ topics: ['orders'] }, { order_statuses: ['filled'] }]
      await Promise.all(both.map(body => good('PATCH', own(), body)))
      const { topics, order_statuses: statuses } = await good('GET', own())
      assert.deepEqual([topics, statuses], [['orders'], ['filled']], `round ${round}`)
    }
    await good('PATCH', own(), { topics: null, order_statuses: null })
  })

  test('410 disables the endpoint; enabled again it goes on where it was', async () => {
    const before = await newest()
    receiver.received.length = 0
    receiver.status = 410
    await place()
    await until(async () => (await good('GET', own())).disabled_reason === 'gone', 'the endpoint is disabled')
    receiver.status = 204
    assert.equal((await call('POST', own('/replay'), { user_id: 'ada', from_seq: 1, to_seq: 2 })).body.code, 'webhook_endpoint_disabled')
    const { disabled_at: at, disabled_reason: reason } = await good('PATCH', own(), { enabled: true })
    assert.deepEqual([at, reason], [null, null])
    await receives(before)
  })

  test('what cannot be is refused, and nothing internal can be reached [S75]', async () => {
    for (const [body, path] of [
      [{ url: 'http://10.0.0.1/' }, 'url'],
      [{ url: 'https://[::ffff:10.0.0.1]/' }, 'url'],
      [{ url: 'https://0xa9fea9fe/' }, 'url'],
      [{ url: 'https://user:secret@hooks.example.com/' }, 'url'],
      [{ url: 'ftp://hooks.example.com/' }, 'url'],
      [{ url: receiver.url, topics: ['trades'] }, 'topics.0'],
      [{ url: receiver.url, topics: [] }, 'topics'],
      [{}, 'url']
    ] as const) {
      const { status, body: problem } = await call('POST', '', body)
      assert.deepEqual([status, problem.code, problem.details[0].path], [400, 'field_invalid', path], JSON.stringify(body))
    }
    for (const body of [{}, { user_id: 'ada' }, { message_id: 'x', user_id: 'ada' }, { user_id: 'ada', from_seq: 5, to_seq: 4 }])
      assert.equal((await call('POST', own('/replay'), body)).body.code, 'field_invalid', JSON.stringify(body))
    assert.equal((await call('POST', own('/replay'), { message_id: 'msg_none' })).body.code, 'webhook_delivery_not_found')
    assert.equal((await call('GET', `/${UNKNOWN}`)).body.code, 'webhook_endpoint_not_found')
    assert.equal((await call('GET', own(`/deliveries/${UNKNOWN}`))).body.code, 'webhook_delivery_not_found')
    // Nothing listens there: an update of now would be sent to each of them, signed with its own secret.
    const nowhere = `http://127.0.0.1:${await freePort()}/`
    const made: Body[] = []
    for (let number = 1; number < 16; number += 1) made.push(await good('POST', '', { url: nowhere }))
    assert.equal((await call('POST', '', { url: nowhere })).body.code, 'webhook_endpoint_limit')
    for (const { endpoint_id: id } of made) await good('DELETE', `/${id}`)
    assert.equal((await good('GET')).length, 1)
  })

  test('the receiver of the guide takes what is genuine, and nothing else', async () => {
    const guide = await readFile(join(import.meta.dirname, '..', '..', 'docs/guides/webhooks.md'), 'utf8')
    const program = blocksIn(guide).find(({ marks }) => marks.includes('receiver'))?.text ?? assert.fail('the guide has no receiver')
    const port = await freePort()
    const { endpoint_id: id, secret } = await good('POST', '', { url: `http://127.0.0.1:${port}/`, topics: ['orders'] })
    const env = { PORT: String(port), SECRET: secret }
    const child = spawn(process.execPath, ['--input-type=module', '-'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
    child.stdin.end(program)
    try {
      await until(() => printed.includes('listening'), 'the receiver listens')
      const forged = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)), 'webhook-signature': 'v1,AAAA' }
      assert.equal((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: forged, body: '{"data":[]}' })).status, 400)
      assert.equal((await good('POST', `/${id}/test`)).status, 204)
      await place()
      await until(() => /^ada \d+ orders$/m.test(printed), 'it prints the updates')
    } finally {
      child.kill('SIGKILL')
      await good('DELETE', `/${id}`)
    }
  })

  test('no secret and no address of an endpoint is in the log of the service, and every message was signed', () => {
    assert.deepEqual(receiver.refusals, [])
    const output = service.output()
    for (const secret of [...receiver.secrets, 'of-the-platform', 'whsec_']) assert.ok(!output.includes(secret), secret)
  })
})

test('a service that is started again sends what it had not, and nothing twice that was answered', async () => {
  await using cluster = await sharedPostgres()
  await using database = await createDatabase(cluster.url)
  const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-webhooks-'))
  const env = { ...NETWORKS, TRUNKLINE_DATABASE_URL: database.url, TRUNKLINE_DATA_DIR: dataDir }
  await using receiver = await WebhookReceiver.open()
  try {
    const orders = async (service: RunningService, api: Api, ada: User, accountId: string, from: number) => {
      for (let number = from; number < from + 4; number += 1) {
        const ticket = { account_id: accountId, broker: 'SANDBOX', side: 'BUY', symbol: 'AAPL', order_type: 'MKT', order_tif: 'DAY' }
        const body = { ...ticket, order_qty: '1', cl_order_id: `order-${number}` }
        assert.equal((await api.call('POST', '/orders', { headers: api.as(ada), body })).status, 201, service.output().slice(-500))
      }
    }
    const logOf = async (api: Api): Promise<readonly Body[]> =>
      (await api.call('GET', '/events?user_id=ada&limit=1000', { headers: api.platform })).body.data
    const first = await startService('none', env)
    const { api, ada, accountId } = await connectAda(first)
    const { body: made } = await api.call('POST', '/webhook-endpoints', { headers: api.platform, body: { url: receiver.url } })
    receiver.secrets = [made.secret]
    await orders(first, api, ada, accountId, 0)
    await until(() => receiver.events.length > 0, 'the endpoint has something')
    await receiver.leave()
    await orders(first, api, ada, accountId, 4)
    await first[Symbol.asyncDispose]()
    await receiver.comeBack()
    await using second = await startService('none', env)
    const again = await Api.of(second)
    await until(async () => {
      const seqs = new Set(receiver.events.map(({ seq }) => seq))
      return (await logOf(again)).every(({ seq }) => seqs.has(seq) || seq < receiver.events[0].seq)
    }, 'the endpoint has all')
    const ids = receiver.received.map(({ id }) => id)
    assert.deepEqual(
      receiver.events.map(({ seq }) => seq),
      receiver.events.map(({ seq }) => seq).toSorted((a, b) => a - b)
    )
    assert.equal(new Set(ids).size, ids.length)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})

async function freePort(): Promise<number> {
  const receiver = await WebhookReceiver.open()
  const { port } = new URL(receiver.url)
  await receiver.leave()
  return Number(port)
}
