import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AccountEvent, OrderReport } from '@trunkline/core/ports/broker'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { until } from '@trunkline/testkit/until'
import type { WebSocket } from 'ws'
import { VirtualClock } from '../support/clocks.ts'
import { bodyText, fixture, type Json, unread } from './fixtures.ts'
import { as, json, type Opened, openAt, Venue } from './venue.ts'

after(() =>
  assert.deepEqual(
    unread(name => name.startsWith('stream.')),
    [],
    'messages that no test reads'
  )
)

const STREAM = '/api/stream'

/** As their paper accounts do: JSON in binary frames. */
const send = (socket: WebSocket, message: string) => socket.send(Buffer.from(message))

function listens(venue: Venue, authorization = 'stream.authorized'): Json[] {
  const received: Json[] = []
  venue.streams.set(STREAM, {
    onFrame(data, socket) {
      const message = JSON.parse(data.toString())
      received.push(message)
      if (message.action === 'authenticate' || message.action === 'auth') send(socket, bodyText(authorization))
      if (message.action === 'listen') send(socket, bodyText('stream.listening'))
    }
  })
  return received
}

/** Listens to the account stream of a broker and remembers. */
class AccountListener implements AsyncDisposable {
  readonly events: AccountEvent[] = []
  readonly ended: Promise<unknown>
  readonly #stop = new AbortController()

  constructor({ broker }: Opened) {
    this.ended = this.#listen(broker.events(this.#stop.signal)).then(
      () => null,
      (error: unknown) => error
    )
  }

  get history(): string {
    return this.events.map(event => (event.type === 'gap' ? `gap ${event.cause}` : event.type)).join(', ')
  }

  get orders(): readonly OrderReport[] {
    return this.events.flatMap(event => (event.type === 'order' ? [event.report] : []))
  }

  async receives(hasArrived: () => boolean, what: string): Promise<void> {
    await until(hasArrived, what).catch((cause: unknown) => {
      throw new Error(`${what}; received ${this.history}`, { cause })
    })
  }

  count(type: AccountEvent['type']): number {
    return this.events.filter(event => event.type === type).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.ended
  }

  async #listen(events: AsyncIterable<AccountEvent>): Promise<void> {
    for await (const event of events) this.events.push(event)
  }
}

/** A listener that is live at a venue. */
async function live() {
  const held = new AsyncDisposableStack()
  const venue = held.use(await Venue.start())
  listens(venue)
  venue.on('GET /api/v2/positions', as('positions'))
  const opened = held.use(openAt(venue))
  const listener = held.use(new AccountListener(opened))
  await listener.receives(() => listener.history === 'live', 'live')
  return { venue, opened, listener, [Symbol.asyncDispose]: () => held.disposeAsync() }
}

test('where the newer form of the login is refused, the older one decides, and is sent at once the next time', async () => {
  await using venue = await Venue.start()
  const received: Json[] = []
  venue.streams.set(STREAM, {
    onFrame(data, socket) {
      const message = JSON.parse(data.toString())
      received.push(message.action)
      const status = message.action === 'authenticate' ? 'authorized' : 'unauthorized'
      if (message.action !== 'listen') send(socket, JSON.stringify({ stream: 'authorization', data: { action: message.action, status } }))
      else send(socket, bodyText('stream.listening'))
    }
  })
  await using opened = openAt(venue)
  await using listener = new AccountListener(opened)
  await listener.receives(() => listener.count('live') === 1, 'live')
  assert.deepEqual(received, ['auth', 'authenticate', 'listen'])
  venue.last.terminate()
  await listener.receives(() => listener.count('live') === 2, 'live again')
  assert.deepEqual(received.slice(3), ['authenticate', 'listen'])
})

test('orders and executions, each with its own id; positions and balances are read after a fill', async () => {
  await using scene = await live()
  const { venue, listener } = scene
  for (const name of ['stream.new', 'stream.partial', 'stream.fill']) send(venue.last, bodyText(name))
  await listener.receives(() => listener.count('positions') >= 1 && listener.count('balances') >= 1, 'what a fill changes')
  assert.deepEqual(
    listener.orders.map(({ status, fills }) => [status, fills?.map(({ fillId, quantity, price }) => [fillId.slice(-1), quantity, price])]),
    [
      ['working', undefined],
      ['partially_filled', [['1', '1', '150.2']]],
      ['filled', [['2', '1', '150.25']]]
    ]
  )
  assert.equal(listener.count('gap'), 0)
  assert.deepEqual(
    listener.orders.map(({ filledTotal }) => filledTotal?.quantity),
    ['0', '1', '2']
  )
})

test('an execution that did not come is noticed at the next one', async () => {
  await using scene = await live()
  const { venue, listener } = scene
  for (const name of ['stream.new', 'stream.fill']) send(venue.last, bodyText(name))
  await listener.receives(() => listener.history.startsWith('live, order, gap missing, live, order'), 'the gap')
})

test('one sent twice is no gap, and an order first seen with fills is none either', async () => {
  await using scene = await live()
  const { venue, listener } = scene
  for (const name of ['stream.fill', 'stream.fill', 'stream.partial']) send(venue.last, bodyText(name))
  await listener.receives(() => listener.orders.length === 3, 'all')
  assert.equal(listener.count('gap'), 0)
})

test('a multi-leg order by its own message; after a leg’s message its order is requested, and an unknown one is skipped', async () => {
  await using scene = await live()
  const { venue, listener } = scene
  venue.on(`GET /api/v2/orders/${fixture('order.multi-leg').body.id}`, as('order.multi-leg.filled'))
  send(venue.last, bodyText('stream.leg'))
  send(venue.last, bodyText('stream.multi-leg'))
  await listener.receives(() => listener.orders.length === 1, 'the multi-leg order')
  assert.deepEqual(
    listener.orders[0]?.fills?.map(({ price, quantity }) => [price, quantity]),
    [['0.87', '1']]
  )
  send(venue.last, bodyText('stream.leg'))
  await listener.receives(() => listener.orders.length === 2, 'the multi-leg order as it is now')
  assert.equal(listener.orders[1]?.legs?.[0]?.fills.length, 1)
  assert.equal(listener.orders[1]?.releases, undefined)
  const partly = { ...fixture('order.multi-leg.filled').body, status: 'partially_filled', qty: '2' }
  venue.on(`GET /api/v2/orders/${partly.id}`, json(200, partly))
  const bare = fixture('stream.multi-leg').body
  send(venue.last, JSON.stringify({ ...bare, data: { ...bare.data, order: { ...bare.data.order, legs: null } } }))
  await listener.receives(() => listener.orders.length === 3, 'the multi-leg order again')
  // It was only read: nothing shows that a cancel or a replacement was refused.
  assert.deepEqual([listener.orders[2]?.status, listener.orders[2]?.releases], ['partially_filled', undefined])
  assert.equal(listener.count('gap'), 0)
})

test('what is older than what was published is skipped, except for its execution', async () => {
  await using scene = await live()
  const { venue, listener } = scene
  const publish = (name: string, updatedAt: string, more: object = {}) => {
    const { data } = fixture(name).body
    send(
      venue.last,
      JSON.stringify({ stream: 'trade_updates', data: { ...data, order: { ...data.order, updated_at: updatedAt, ...more } } })
    )
  }
  publish('stream.new', '2026-11-03T15:10:17.7Z')
  publish('stream.new', '2026-11-03T15:10:17.6Z', { status: 'pending_new' })
  publish('stream.partial', '2026-11-03T15:10:20Z')
  publish('stream.new', '2026-11-03T15:10:19Z')
  publish('stream.fill', '2026-11-03T15:10:18Z', { filled_qty: '1', status: 'new' })
  publish('stream.new', '2026-11-03T15:10:21Z', { status: 'canceled', filled_qty: '2' })
  publish('stream.new', '2026-11-03T15:10:22Z', { status: 'pending_cancel', filled_qty: '2' })
  publish('stream.new', '2026-11-03T15:10:17.8Z', { id: 'another' })
  await listener.receives(() => listener.orders.at(-1)?.brokerOrderId === 'another', 'the last one')
  assert.deepEqual(
    listener.orders.map(({ status, fills }) => [status, fills?.length]),
    [
      ['working', undefined],
      ['partially_filled', 1],
      ['partially_filled', 1],
      ['cancelled', undefined],
      ['working', undefined]
    ]
  )
})

test('a refused replacement: both orders are requested, and the one that is live again is released', async () => {
  await using scene = await live()
  const { venue, listener } = scene
  const { order } = fixture('stream.replace.refused').body.data
  venue.on(`GET /api/v2/orders/${order.id}`, json(200, order))
  venue.on(`GET /api/v2/orders/${order.replaces}`, json(200, { ...fixture('order.pending').body, status: 'new' }))
  send(venue.last, bodyText('stream.replace.refused'))
  await listener.receives(() => listener.orders.length === 2, 'both orders')
  const reported = new Map(listener.orders.map(report => [report.brokerOrderId, [report.status, report.releases]]))
  assert.deepEqual(reported.get(order.replaces), ['working', true])
  assert.deepEqual(reported.get(order.id), ['rejected', undefined])
})

test('an unknown status is a gap, counted and logged; the connection stays', async () => {
  await using scene = await live()
  const { venue, opened, listener } = scene
  const { data } = fixture('stream.new').body
  send(venue.last, JSON.stringify({ stream: 'trade_updates', data: { ...data, order: { ...data.order, status: 'levitating' } } }))
  await listener.receives(() => listener.history === 'live, gap malformed, live', 'a gap')
  assert.equal(opened.meter.counted('broker_unknown_values_total', { broker: 'ALPACA', field: 'status' }), 1)
  // A new value for what happened only describes it.
  send(venue.last, JSON.stringify({ stream: 'trade_updates', data: { ...data, event: 'levitated' } }))
  await listener.receives(() => listener.orders.length === 1, 'the order')
  assert.equal(venue.sockets.length, 1)
})

test('a stream that refuses the credentials: the account is requested, and only its refusal ends the session', async () => {
  await using venue = await Venue.start()
  listens(venue, 'stream.unauthorized')
  await using opened = openAt(venue)
  await using listener = new AccountListener(opened)
  await listener.receives(() => venue.sockets.length >= 2, 'tried again')
  assert.ok(listener.history.startsWith('gap token'))
  venue.on('GET /api/v2/account', as('error.unauthorized'))
  const error = await listener.ended
  assert.ok(error instanceof BrokerFault && error.kind === 'credentials_rejected', String(error))
})

test('a stream that is refused otherwise is a gap, and tried again', async () => {
  await using venue = await Venue.start()
  venue.streams.set(STREAM, {
    onFrame: (_data, socket) => send(socket, JSON.stringify({ stream: 'error', data: { error_message: 'too many connections' } }))
  })
  await using opened = openAt(venue)
  await using listener = new AccountListener(opened)
  await listener.receives(() => venue.sockets.length >= 2, 'tried again')
  assert.equal(listener.history, 'gap refused')
})

test('silence is pings that are not answered', async () => {
  await using venue = await Venue.start({ autoPong: false })
  listens(venue)
  const clock = new VirtualClock()
  await using opened = openAt(venue, { clock })
  await using listener = new AccountListener(opened)
  await listener.receives(() => listener.count('live') === 1, 'live')
  await clock.advance(2 * venue.settings().pingMs + 1)
  await listener.receives(() => listener.history.startsWith('live, gap silence'), 'the silence')
})

test('a stream that is open and silent is given up once the open orders show what it did not send', async () => {
  for (const [first, then, isSilent] of [
    [['a new'], ['a new'], false],
    [['a new'], [], true],
    [['a new'], ['a partially_filled'], true],
    [[], ['b new'], true]
  ] as const) {
    await using venue = await Venue.start()
    listens(venue)
    const order = fixture('stream.new').body.data.order
    const rows = (open: readonly string[]) => open.map(text => ({ ...order, id: text.split(' ')[0], status: text.split(' ')[1] }))
    venue.on('GET /api/v2/positions', as('positions'))
    venue.on('GET /api/v2/orders', () => json(200, rows(venue.requests('GET /api/v2/orders').length === 1 ? first : then)))
    const clock = new VirtualClock()
    await using opened = openAt(venue, { clock, settings: { pingMs: 600_000 } })
    await using listener = new AccountListener(opened)
    await listener.receives(() => venue.requests('GET /api/v2/orders').length === 1, 'the first reading')
    await clock.advance(1)
    while (venue.requests('GET /api/v2/orders').length === 1) await clock.advance(60_000)
    await clock.advance(10)
    await until(() => clock.sleepers > 0, 'it waits')
    await clock.advance(3_000)
    if (isSilent) await listener.receives(() => listener.history.includes('gap silence'), 'the silence')
    else assert.equal(listener.count('gap'), 0)
  }
})

test('what the stream has sent is no silence', async () => {
  await using venue = await Venue.start()
  listens(venue)
  const { order } = fixture('stream.new').body.data
  venue.on('GET /api/v2/positions', as('positions'))
  venue.on('GET /api/v2/orders', () => json(200, venue.requests('GET /api/v2/orders').length === 1 ? [] : [order]))
  const clock = new VirtualClock()
  await using opened = openAt(venue, { clock, settings: { pingMs: 600_000 } })
  await using listener = new AccountListener(opened)
  await listener.receives(() => venue.requests('GET /api/v2/orders').length === 1, 'the first reading')
  send(venue.last, bodyText('stream.new'))
  await listener.receives(() => listener.orders.length === 1, 'the order')
  while (venue.requests('GET /api/v2/orders').length === 1) await clock.advance(60_000)
  await clock.advance(3_000)
  assert.equal(listener.count('gap'), 0)
})
