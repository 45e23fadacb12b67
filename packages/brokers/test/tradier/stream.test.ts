/** The account stream against a scripted host. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccountEvent, OrderReport } from '@trunkline/core/ports/broker'
import { until } from '@trunkline/testkit/until'
import { type WebSocket, WebSocketServer } from 'ws'
import { reply } from './fixtures.ts'
import { ACCOUNT, type Answers, answering, raw, ScriptedTradier } from './support.ts'

const EVENT = JSON.parse(reply('event.order').body)
const ORDER = JSON.parse(reply('orders.one').body).orders.order

/** A login whose stream is followed, and the other end of it. */
class Followed implements AsyncDisposable {
  readonly tradier: ScriptedTradier
  readonly events: AccountEvent[] = []
  readonly hellos: string[] = []
  readonly sockets: WebSocket[] = []
  readonly #server: WebSocketServer
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>

  private constructor(tradier: ScriptedTradier) {
    this.tradier = tradier
    this.#server = new WebSocketServer({ server: tradier.host.server, path: '/ws/accounts/events' })
    this.#server.on('connection', socket => {
      this.sockets.push(socket)
      socket.on('message', data => this.hellos.push(String(data)))
    })
    this.#ended = this.#listen()
  }

  static async start(answers: Answers): Promise<Followed> {
    const quotes = 'POST /markets/quotes'
    const tradier = await ScriptedTradier.start({ 'POST /accounts/events/session': 'session', [quotes]: 'quotes.several', ...answers })
    const followed = new Followed(tradier)
    await until(() => followed.count('live') === 1, 'the stream is live')
    return followed
  }

  send(message: object): void {
    this.sockets.at(-1)?.send(JSON.stringify(message))
  }

  count(type: AccountEvent['type']): number {
    return this.events.filter(event => event.type === type).length
  }

  get orders(): readonly OrderReport[] {
    return this.events.flatMap(event => (event.type === 'order' ? [event.report] : []))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#ended
    this.#server.close()
    await this.tradier[Symbol.asyncDispose]()
  }

  async #listen(): Promise<void> {
    for await (const event of this.tradier.broker.events(this.#stop.signal)) this.events.push(event)
  }
}

const orderOf = (order: object) => answering({ order })
const HELD: Answers = {
  [`GET /accounts/${ACCOUNT}/positions`]: 'positions.one',
  [`GET /accounts/${ACCOUNT}/balances`]: 'balances.margin'
}

test('the session goes to the configured host, and what is sent to it is the request for orders', async () => {
  await using followed = await Followed.start({})
  assert.deepEqual(
    followed.hellos.map(hello => JSON.parse(hello)),
    [{ events: ['order'], sessionid: 'a1b2c3d4-0000-4000-8000-000000000000', excludeAccounts: [] }]
  )
  assert.equal(followed.sockets.length, 1)
})

test('an unknown order is read; from then on events are enough, and what is held is read after a fill', async () => {
  await using followed = await Followed.start({ [`GET /accounts/${ACCOUNT}/orders/900500`]: orderOf(ORDER), ...HELD })
  followed.send(JSON.parse(reply('event.heartbeat').body))
  followed.send({ ...EVENT, status: 'partially_filled', exec_quantity: 12, avg_fill_price: 219.98 })
  await until(() => followed.orders.length === 1, 'the order was read')
  assert.deepEqual([followed.orders[0]?.symbol, followed.orders[0]?.status], ['AAPL', 'partially_filled'])
  await until(() => followed.count('positions') === 1 && followed.count('balances') === 1, 'what is held was read')
  followed.send(EVENT)
  await until(() => followed.orders.at(-1)?.status === 'filled', 'the fill is reported')
  assert.deepEqual(followed.orders.at(-1)?.filledTotal, { quantity: '40', averagePrice: '219.99' })
  await until(() => followed.count('positions') === 2, 'what is held was read again')
  assert.equal(followed.tradier.requests.filter(request => request.includes('/orders/')).length, 1)
  followed.send({ ...EVENT, status: 'open', exec_quantity: 0, avg_fill_price: 0 })
  followed.send({ ...EVENT, id: 900501, parent_id: 900500 })
  await until(
    () => followed.tradier.requests.filter(request => request.endsWith('/orders/900500?includeTags=true')).length === 2,
    'a leg’s order is read'
  )
  assert.ok(
    followed.orders.every(({ status }) => status !== 'working'),
    'an old event is not published'
  )
})

test('filled without quantities is not reported as filled, and the order is read until they are there', async () => {
  let reads = 0
  await using followed = await Followed.start({
    [`GET /accounts/${ACCOUNT}/orders/900500`]: (_seen, response) => {
      reads += 1
      const figures = reads < 3 ? { exec_quantity: 40, avg_fill_price: 0 } : { exec_quantity: 40, avg_fill_price: 219.99 }
      raw(response, 200, JSON.stringify({ order: { ...ORDER, status: 'filled', ...figures } }))
    },
    ...HELD
  })
  followed.send({ ...EVENT, avg_fill_price: 0 })
  await until(() => followed.orders.at(-1)?.status === 'filled', 'the fill is reported once it is known')
  assert.equal(reads, 3)
  assert.deepEqual(
    followed.orders.slice(0, -1).map(({ status, filledTotal }) => [status, filledTotal?.quantity]),
    [
      ['working', '0'],
      ['working', '0']
    ]
  )
})

test('a stream that Tradier refuses, and an unknown value, are gaps; then it is live again', async () => {
  await using followed = await Followed.start({ [`GET /accounts/${ACCOUNT}/orders/900500`]: orderOf(ORDER), ...HELD })
  followed.send({ error: 'too many sessions' })
  await until(() => followed.count('live') === 2, 'live again')
  followed.send({ ...EVENT, status: 'partially_filled', exec_quantity: 12, avg_fill_price: 219.98 })
  await until(() => followed.orders.length === 1, 'the order is known')
  followed.send({ ...EVENT, status: 'reviewing' })
  await until(() => followed.count('live') === 3, 'live again')
  const causes = followed.events.flatMap(event => (event.type === 'gap' ? [event.cause] : []))
  assert.deepEqual(causes, ['refused', 'malformed'])
  assert.equal(followed.tradier.meter.counted('broker_unknown_values_total', { broker: 'TRADIER', field: 'status' }), 1)
})
