// Invalid records in a broker's lists: an order that was left out of a list is not absent, and nothing is concluded from it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { NotSettled, settleAllAsNotReceived, settleAsNotReceived } from '@trunkline/core/app/orders/settle-order'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { Order, OrderTicket } from '@trunkline/core/domain/order'
import type { AccountEvent, OrderReport } from '@trunkline/core/ports/broker'
import type { AuditEntry } from '@trunkline/core/ports/store'
import { Bench, type World } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const { signal } = new AbortController()
const TICKET: OrderTicket = {
  ...{ side: 'BUY', type: 'LMT', tif: 'GTC', symbol: 'QQQ', instrument: 'STK', notional: null, stopPrice: null, legs: null },
  quantity: parseDecimal('10', 'quantity'),
  limitPrice: parseDecimal('10.00', 'limitPrice')
}
const YOUNG_MS = 300_000
const untagged = () => bench.world({ capabilities: { deduplication: 'none' } })

/** An impossible report: a total at a price below zero. */
const SPOILT = {
  fills: null,
  filledTotal: { quantity: parseDecimal('4', 'quantity'), averagePrice: parseDecimal('-1', 'price') },
  status: 'partially_filled'
} as const

/** From now on some of the broker's order records are invalid, in lists, look-ups and on the stream. */
function spoil(world: World, which: (report: OrderReport) => boolean): void {
  const { broker } = world
  const original = broker.reported.bind(broker)
  broker.reported = report => ({ ...original(report), ...(which(report) ? SPOILT : {}) })
}

/** An order whose answer was lost; it arrives at the broker after `meanwhile`. */
async function lost(world: World, meanwhile: (sent: Order) => void = () => undefined): Promise<Order> {
  world.broker.plans.submit.push({ reply: 'unknown', effectAfterMs: 200 })
  const placing = world.place()
  await world.clock.until(() => world.broker.sent('submit') === 1, 'the order is sent')
  const [sent] = await world.orders()
  assert.ok(sent !== undefined)
  meanwhile(sent)
  return await world.given(placing)
}

function auditOf(world: World, target: string): AuditEntry {
  const fields = { actor: 'operator', action: 'order.never_received', result: 'ok', ip: null, requestId: null, detail: {} } as const
  return { at: world.clock.now(), target, ...fields }
}

const isUnread = (cause: unknown) => cause instanceof NotSettled && /1 order that cannot be read/.test(cause.message)

test('an order whose record at the broker is malformed is not ended as never received, neither alone nor in a set [S77]', async () => {
  await using world = await untagged()
  await world.live()
  spoil(world, () => true)
  const placed = await lost(world)
  await world.clock.advance(YOUNG_MS + 10_000)
  const audit = auditOf(world, placed.orderId)
  await assert.rejects(world.given(settleAsNotReceived(world.app, placed.orderId, { isUnseen: false, audit }, signal)), isUnread)
  const verdict = { isUnseen: false, entry: () => audit, skippedEntry: () => audit }
  const { orders, skipped } = await world.given(settleAllAsNotReceived(world.app, [placed.orderId], verdict, signal))
  assert.deepEqual([orders, skipped.map(({ orderId }) => orderId)], [[], [placed.orderId]])
  assert.deepEqual([(await world.stored(placed)).status, world.ledger.list().length], ['pending', 1])
})

test('an unresolved order is not matched to a similar order while a record was left out, so its cancel affects no other order [S77]', async () => {
  await using world = await untagged()
  await world.live()
  let elsewhere: OrderReport | null = null
  let areSpoilt = true
  spoil(world, ({ brokerOrderId }) => areSpoilt && brokerOrderId !== elsewhere?.brokerOrderId)
  const placed = await lost(world, sent => {
    elsewhere = world.ledger.addOutside({ ...sent, limitPrice: sent.limitPrice }, world.account.brokerAccountId)
  })
  await world.clock.advance(120_000)
  assert.deepEqual([(await world.stored(placed)).brokerOrderId, (await world.stored(placed)).submission.state], [null, 'unknown'])
  await world.given(world.cancel(placed))
  await world.clock.advance(60_000)
  assert.equal(world.broker.sent('cancel'), 0)
  // Two similar orders can be read, and one was sent: which one it is cannot be determined.
  areSpoilt = false
  await world.clock.advance(60_000)
  assert.deepEqual([(await world.stored(placed)).brokerOrderId, world.broker.sent('cancel')], [null, 0])
})

test('while a record is left out, no order is taken for one placed elsewhere; once the list is complete, the order is known again [S77]', async () => {
  await using world = await untagged()
  await world.live()
  let areSpoilt = true
  spoil(world, ({ symbol }) => areSpoilt && symbol === 'QQQ')
  const placed = await lost(world, sent => void world.ledger.addOutside({ ...sent, symbol: 'QQQ' }, world.account.brokerAccountId))
  await world.clock.advance(60_000)
  assert.deepEqual(
    (await world.orders()).map(({ submission }) => submission.state),
    ['unknown']
  )
  areSpoilt = false
  await world.clock.until(async () => (await world.stored(placed)).submission.state === 'acknowledged', 'it is known again', 600_000)
  await world.clock.until(async () => (await world.orders()).length === 2, 'the other is adopted', 600_000)
})

test('a malformed record of another known order does not prevent matching [S77]', async () => {
  await using world = await untagged()
  await world.live()
  const other = await world.given(world.place({ symbol: 'QQQ' }))
  spoil(world, ({ symbol }) => symbol === 'QQQ')
  world.broker.plans.submit.push({ reply: 'unknown' })
  const placed = await world.given(world.place())
  await world.clock.until(async () => (await world.stored(placed)).submission.state === 'acknowledged', 'it is known again', 120_000)
  assert.notEqual((await world.stored(placed)).brokerOrderId, other.brokerOrderId)
})

/** Streams that send `more` as soon as they are open; returns when each was opened. */
function publishingFirst(world: World, more: () => readonly AccountEvent[]): readonly number[] {
  const opened: number[] = []
  const read = world.broker.streams.read.bind(world.broker.streams)
  world.broker.streams.read = async function* (signal) {
    opened.push(world.clock.monotonicMs())
    for await (const event of read(signal)) {
      yield event
      if (event.type === 'live') yield* more()
    }
  }
  return opened
}

test('a malformed order on a stream leaves the stream open and live, with one alarm, and the other orders followed [S79]', async () => {
  await using world = await bench.world()
  const odd = world.ledger.addOutside({ ...TICKET, symbol: "BAC'L" }, world.account.brokerAccountId)
  const opened = publishingFirst(world, () => world.ledger.list().map(report => ({ type: 'order', report: world.broker.reported(report) })))
  const mine = await world.given(world.place())
  await world.live()
  world.ledger.fill(odd.brokerOrderId, '1')
  const before = world.healths.length
  await world.clock.advance(600_000)
  assert.deepEqual([opened.length, world.health.state, world.healths.length], [1, 'live', before])
  assert.equal(world.logged.filter(({ message }) => message.startsWith('ALARM')).length, 1)
  world.ledger.fill('o-2', '10')
  await world.clock.until(async () => (await world.stored(mine)).status === 'filled', 'its fill is known')
  assert.equal((await world.orders()).length, 1)
})

test('an order whose stream message was invalid is read soon, even if no known order can change', async () => {
  await using world = await bench.world()
  world.app.mirrors.hold(world.connection)
  await world.live()
  await world.clock.advance(1_000_000)
  let isSpoilt = true
  spoil(world, () => isSpoilt)
  world.ledger.addOutside(TICKET, world.account.brokerAccountId)
  isSpoilt = false
  await world.clock.until(async () => (await world.orders()).length === 1, 'it is known', world.app.timing.reconcileMs)
  assert.equal(world.health.state, 'live')
})

test('a stream that always ends after it opens is reopened with growing pauses, even if the snapshots between succeed', async () => {
  await using world = await bench.world()
  const { brokerAccountId } = world.account
  const asOf = world.clock.now()
  const unknown = {
    buyingPower: null,
    initialMargin: null,
    maintenanceMargin: null,
    regTBuyingPower: null,
    equity: null,
    marketValue: null
  }
  const balance = { brokerAccountId, currency: 'USD', cash: parseDecimal('1', 'cash'), ...unknown, asOf }
  const opened = publishingFirst(world, () => [{ type: 'balances', brokerAccountId, balances: { items: [balance, balance], asOf } }])
  world.app.mirrors.hold(world.connection)
  await world.clock.advance(600_000)
  assert.ok(opened.length > 5 && opened.length < 40, `${opened.length} in ten minutes`)
})
