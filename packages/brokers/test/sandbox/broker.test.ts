import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { epochMs, parseTimestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { type AccountEvent, type Broker, BrokerFault, type Credentials } from '@trunkline/core/ports/broker'
import { soon } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import { type WebSocket, WebSocketServer } from 'ws'
import { sandbox } from '../../src/sandbox/definition.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { json, type Script, ScriptedHost } from '../support/scripted-host.ts'
import { fixture, MARGIN } from './fixtures.ts'

const SINCE = parseTimestamp('2026-11-21T02:00:00Z', 'since')

async function start(script: Script, credentials: Credentials = {}) {
  const host = await ScriptedHost.start(script)
  const log = new MemoryLog()
  const settings = { baseUrl: host.origin, clientId: 'us', clientSecret: 'secret' }
  const definition = sandbox(settings, { clock: systemClock, fraction: () => 0.01, log, meter: new MemoryMeter() })
  const broker = definition.open(new MemoryHolder({ access_token: 'at', refresh_token: 'rt', ...credentials }))
  return {
    host,
    broker,
    log,
    async [Symbol.asyncDispose]() {
      await broker[Symbol.asyncDispose]()
      await definition[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
    }
  }
}

function order(id: string, changes: object = {}): object {
  const { order: captured } = fixture('submit.open').body
  return Object.assign({}, captured, { id }, changes)
}

/** A page whose sandbox time is `behindMs` behind its real time. */
function page(items: readonly object[], next: string | null = null, behindMs = 0): object {
  const now = Date.now()
  return { as_of: new Date(now).toISOString(), sandbox_time: new Date(now - behindMs).toISOString(), items, next }
}

test('a list is read to its last page', async () => {
  await using opened = await start((seen, response) => {
    const { searchParams } = new URL(seen.path, 'http://x')
    if (searchParams.get('state') === 'open') return json(response, 200, page([order('o1')]))
    const at = Number(searchParams.get('cursor') ?? '0')
    json(response, 200, page([order(`o${at + 1}`)], at < 4 ? String(at + 1) : null))
  })
  const { items } = await opened.broker.orders(MARGIN, SINCE, soon())
  assert.deepEqual(
    items.map(item => item.brokerOrderId),
    ['o1', 'o2', 'o3', 'o4', 'o5']
  )
  assert.ok(opened.host.seen.every(seen => seen.headers.authorization === 'Bearer at'))
})

test('an order that ends between the two lists is seen ended', async () => {
  await using opened = await start((seen, response) =>
    json(response, 200, page([order('o1', seen.path.includes('state=open') ? {} : { state: 'cancelled' })]))
  )
  const { items } = await opened.broker.orders(MARGIN, SINCE, soon())
  assert.deepEqual(
    items.map(item => item.status),
    ['cancelled']
  )
})

test('since is sent with a margin, and not at all to a sandbox that lives in another time', async () => {
  for (const [behindMs, expected] of [
    [0, '2026-11-21T01:59:55.000000Z'],
    [86_400_000, null]
  ] as const) {
    await using opened = await start((_, response) => json(response, 200, page([], null, behindMs)))
    await opened.broker.orders(MARGIN, SINCE, soon())
    const requested = opened.host.seen.map(seen => new URL(seen.path, 'http://x').searchParams)
    assert.deepEqual(
      requested.map(query => [query.get('state'), query.get('since')]),
      [
        ['open', null],
        ['all', expected]
      ]
    )
  }
})

test('an answer about another order or account is no answer', async () => {
  await using opened = await start((_, response) => json(response, 200, fixture('find.found').body))
  const found = async (brokerAccountId: string, brokerClOrdId: string) =>
    (await opened.broker.findOrder({ by: 'brokerClOrdId', brokerAccountId, brokerClOrdId }, soon())).found
  assert.equal((await found(MARGIN, 'fix1'))?.brokerOrderId, 'ord-0f110201-1')
  await assert.rejects(found('acc-other', 'fix1'), isFault('malformed'))
  await assert.rejects(found(MARGIN, 'fix2'), isFault('malformed'))
  opened.host.script((_, response) =>
    json(response, 404, { as_of: '2026-11-21T02:58:06.493000Z', error: { code: 'unknown_route', message: 'no' } })
  )
  await assert.rejects(found(MARGIN, 'fix1'), isFault('refused'))
  opened.host.script((_, response) => void response.writeHead(404).end('<html>'))
  await assert.rejects(found(MARGIN, 'fix1'), isFault('malformed'))
})

test('an event of an account that is not of the login is dropped, and logged', async () => {
  await using opened = await start((_, response) => json(response, 200, page([])))
  const connected = stream(opened.host)
  await using reading = await listen(opened.broker)
  const socket = await connected
  socket.send(JSON.stringify({ ...fixture('stream.ready').body, heartbeat_ms: 60_000 }))
  await until(() => reading.events.length === 1, 'live')
  const event = (seq: number, changes: object) => JSON.stringify({ ...fixture('stream.order').body, seq, order: order('o1', changes) })
  socket.send(event(1, { account: 'acc-of-another-user' }))
  socket.send(event(2, {}))
  await until(() => reading.events.length === 2, 'the event of our account')
  assert.deepEqual(
    reading.events.map(each => each.type),
    ['live', 'order']
  )
  assert.deepEqual(
    opened.log.lines.filter(each => each.level === 'error').map(each => each.fields.account),
    ['acc-of-another-user']
  )
})

test('an order that comes back from cancelling is released, and only then', async () => {
  await using opened = await start((_, response) => json(response, 200, page([])))
  const connected = stream(opened.host)
  await using reading = await listen(opened.broker)
  const socket = await connected
  socket.send(JSON.stringify({ ...fixture('stream.ready').body, heartbeat_ms: 60_000 }))
  const statuses = ['open', 'cancelling', 'partial', 'partial', 'amending', 'done', 'cancelling', 'cancelled']
  for (const [index, state] of statuses.entries())
    socket.send(JSON.stringify({ ...fixture('stream.order').body, seq: index + 1, order: order('o1', { state }) }))
  await until(() => reading.events.length === 1 + statuses.length, 'all of them')
  assert.deepEqual(
    reading.events.flatMap(each => (each.type === 'order' ? [`${each.report.brokerStatus} ${each.report.releases ?? false}`] : [])),
    statuses.map((state, index) => `${state} ${index === 2}`)
  )
})

test('an event that this version does not know is counted and skipped', async () => {
  await using opened = await start((_, response) => json(response, 200, page([])))
  const connected = stream(opened.host)
  await using reading = await listen(opened.broker)
  const socket = await connected
  socket.send(JSON.stringify({ ...fixture('stream.ready').body, heartbeat_ms: 60_000 }))
  for (const frame of [
    { ev: 'weather', seq: 1 },
    { ev: 'notice' },
    { ...fixture('stream.balance').body, seq: 2 },
    { ev: 'heartbeat', seq: 2 }
  ])
    socket.send(JSON.stringify(frame))
  await until(() => reading.events.length === 2, 'the balance')
  assert.deepEqual(
    reading.events.map(each => each.type),
    ['live', 'balances']
  )
})

test('positions that cannot be read after a change are a gap', async () => {
  await using opened = await start((_, response) => json(response, 403, {}))
  const connected = stream(opened.host)
  await using reading = await listen(opened.broker)
  const socket = await connected
  socket.send(JSON.stringify({ ...fixture('stream.ready').body, heartbeat_ms: 60_000 }))
  socket.send(JSON.stringify({ ...fixture('stream.position').body, seq: 1 }))
  await until(() => reading.events.length === 3, 'a gap')
  assert.deepEqual(
    reading.events.map(each => each.type),
    ['live', 'gap', 'live']
  )
})

test('a stream receives the new token when the old one nears its expiry', async () => {
  const now = epochMs(systemClock.now())
  const short = { issued_at: timestampOfMs(now), expires_at: timestampOfMs(now + 4_000) }
  await using opened = await start(grants, short)
  const connected = stream(opened.host)
  await using reading = await listen(opened.broker)
  const socket = await connected
  const received: string[] = []
  socket.on('message', data => received.push(String(data)))
  socket.send(JSON.stringify({ ...fixture('stream.ready').body, heartbeat_ms: 60_000 }))
  await until(() => received.length === 1, 'the new token')
  assert.deepEqual(received, ['{"op":"token","token":"at2"}'])
  assert.deepEqual(
    reading.events.map(each => each.type),
    ['live']
  )
})

test('a stream that ends with its token comes back with another one', async () => {
  for (const end of [
    (socket: WebSocket) => socket.close(4003),
    (socket: WebSocket) => {
      socket.send('{"ev":"denied","code":"token_invalid","message":"no"}')
      socket.close(4001)
    }
  ]) {
    await using opened = await start(grants)
    const server = new WebSocketServer({ server: opened.host.server })
    const tokens: string[] = []
    server.on('connection', socket =>
      socket.on('message', data => {
        tokens.push(JSON.parse(String(data)).token)
        if (tokens.length === 1) end(socket)
        else socket.send(JSON.stringify({ ...fixture('stream.ready').body, heartbeat_ms: 60_000 }))
      })
    )
    await using reading = await listen(opened.broker)
    await until(() => reading.events.length === 2, 'live')
    assert.deepEqual(
      reading.events.map(event => (event.type === 'gap' ? event.cause : event.type)),
      ['token', 'live']
    )
    assert.deepEqual(tokens, ['at', 'at2'])
  }
})

const grants: Script = (_, response) =>
  json(response, 200, { access_token: 'at2', refresh_token: 'rt2', token_type: 'Bearer', expires_in: 600 })

/** The scripted host as a stream: its next connection, once it has logged in. */
async function stream(host: ScriptedHost): Promise<WebSocket> {
  const server = new WebSocketServer({ server: host.server })
  const [socket] = await once(server, 'connection')
  const [hello] = await once(socket, 'message')
  assert.deepEqual(JSON.parse(String(hello)), { op: 'login', token: 'at' })
  return socket
}

async function listen(broker: Broker) {
  const events: AccountEvent[] = []
  const stop = new AbortController()
  const running = (async () => {
    for await (const event of broker.events(stop.signal)) events.push(event)
  })()
  return {
    events,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    }
  }
}

function isFault(kind: BrokerFault['kind']): (error: unknown) => boolean {
  return error => error instanceof BrokerFault && error.kind === kind
}
