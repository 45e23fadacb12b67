// Orders of several legs: the multi-leg order is one order with fills of its own, and each leg keeps what it was filled with.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { Leg, Order } from '@trunkline/core/domain/order'
import type { BrokerCapabilities, OrderReport } from '@trunkline/core/ports/broker'
import { Bench, type PlaceRequest, type World } from '@trunkline/testkit/bench'
import * as make from '@trunkline/testkit/store-contract/records'
import { orderBytes } from '../../src/wire/order.ts'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const capabilities: Partial<BrokerCapabilities> = {
  instruments: ['MLEG_OPT'],
  orderTypes: { MLEG_OPT: ['LMT', 'MKT'] },
  timesInForce: { MLEG_OPT: ['DAY'] },
  sides: { MLEG_OPT: ['BUY', 'SELL'] }
}

const LEGS = [
  { symbol: 'SPY261218C00660000', side: 'BUY_TO_OPEN', ratio: make.decimal('1') },
  { symbol: 'SPY261218C00670000', side: 'SELL_TO_OPEN', ratio: make.decimal('2') }
] as const
const SPREAD: PlaceRequest = { symbol: null, instrument: 'MLEG_OPT', quantity: '4', limitPrice: '-0.05', legs: LEGS }

function legFill(fillId: string, quantity: string, price: string) {
  return make.fill(fillId, quantity, { price: make.decimal(price) })
}

/** Fills of the multi-leg order and of its legs, as a broker reports them together. */
function filled(report: OrderReport, quantities: readonly string[]): Partial<OrderReport> {
  const fills = quantities.map((quantity, index) => make.fill(`p-${index}`, quantity, { price: make.decimal('-0.06') }))
  const legs: readonly Leg[] = (report.legs ?? []).map((leg, place) => ({
    ...leg,
    fills: quantities.map((quantity, index) => legFill(`p-${index}-${place + 1}`, quantity, `${place + 1}.10`))
  }))
  return { fills, legs }
}

function summary(order: Order): readonly unknown[] {
  return [order.status, order.fills.map(({ fillId }) => fillId), order.legs?.map(({ fills }) => fills.map(({ fillId }) => fillId))]
}

/** The order's record as platforms see it. */
function shown(order: Order) {
  return JSON.parse(new TextDecoder().decode(orderBytes(order)))
}

async function placed(): Promise<{ readonly world: World; readonly order: Order; readonly id: string }> {
  const world = await bench.world({ capabilities })
  await world.live()
  const order = await world.given(world.place(SPREAD))
  assert.ok(order.brokerOrderId !== null)
  return { world, order, id: order.brokerOrderId }
}

test('a credit spread is placed with its legs, and they come back in its record', async () => {
  const { world, order, id } = await placed()
  await using _ = world
  assert.deepEqual([order.status, order.limitPrice, order.symbol, order.instrument], ['working', '-0.05', null, 'MLEG_OPT'])
  assert.deepEqual(
    world.ledger.get(id).legs,
    LEGS.map(leg => ({ ...leg, fills: [] }))
  )
  assert.deepEqual(
    shown(await world.stored(order)).legs,
    LEGS.map(({ symbol, side, ratio }) => ({ symbol, action: side, ratio, fills: [] }))
  )
})

test('fills of the multi-leg order count, fills of the legs are kept with them, and each once', async () => {
  const { world, order, id } = await placed()
  await using _ = world
  world.ledger.move(id, 'partially_filled', filled(world.ledger.get(id), ['1']))
  await world.clock.until(async () => (await world.stored(order)).fills.length === 1, 'the first fill is stored')
  world.ledger.move(id, 'partially_filled', filled(world.ledger.get(id), ['1']))
  world.ledger.move(id, 'filled', filled(world.ledger.get(id), ['1', '3']))
  await world.clock.until(async () => (await world.stored(order)).status === 'filled', 'it is filled')
  const stored = await world.stored(order)
  assert.deepEqual(summary(stored), [
    'filled',
    ['p-0', 'p-1'],
    [
      ['p-0-1', 'p-1-1'],
      ['p-0-2', 'p-1-2']
    ]
  ])
  const record = shown(stored)
  assert.deepEqual([record.filled_qty, record.average_fill_price], ['4', '-0.06'])
  assert.deepEqual(
    record.legs[1].fills.map(({ fill_id, quantity, price }: { fill_id: string; quantity: string; price: string }) => [
      fill_id,
      quantity,
      price
    ]),
    [
      ['p-0-2', '1', '2.10'],
      ['p-1-2', '3', '2.10']
    ]
  )
  assert.equal(world.counted.get('order_alarms_total SANDBOX overfill'), undefined)
  const events = (await world.events()).filter(({ topic }) => topic === 'orders')
  const last = events.at(-1)
  assert.deepEqual(last?.topic === 'orders' ? summary(last.data) : null, summary(stored))
})

test('a leg’s fill that is reported after the multi-leg order is filled is still kept', async () => {
  const { world, order, id } = await placed()
  await using _ = world
  const all = filled(world.ledger.get(id), ['4'])
  world.ledger.move(id, 'filled', { fills: all.fills ?? null })
  await world.clock.until(async () => (await world.stored(order)).status === 'filled', 'it is filled')
  world.ledger.move(id, 'filled', all)
  await world.clock.until(async () => (await world.stored(order)).legs?.[1]?.fills.length === 1, 'the legs are known')
  assert.deepEqual(summary(await world.stored(order)), ['filled', ['p-0'], [['p-0-1'], ['p-0-2']]])
})

test('a replacement begins with its legs unfilled; the old order keeps what its legs were filled with', async () => {
  const { world, order, id } = await placed()
  await using _ = world
  world.ledger.move(id, 'partially_filled', filled(world.ledger.get(id), ['1']))
  await world.clock.until(async () => (await world.stored(order)).fills.length === 1, 'the fill is stored')
  const successor = await world.given(world.modify(order, { clOrdId: 'm-1', limitPrice: '0' }))
  assert.deepEqual([successor.status, successor.limitPrice], ['working', '0'])
  assert.deepEqual(summary(await world.stored(successor)), ['working', [], [[], []]])
  assert.deepEqual(summary(await world.stored(order)), ['replaced', ['p-0'], [['p-0-1'], ['p-0-2']]])
})

test('it can be cancelled, and looked up when the answer was lost', async () => {
  await using world = await bench.world({ capabilities })
  await world.live()
  world.broker.plans.submit.push({ effect: 'done', reply: 'unknown' })
  const order = await world.given(world.place(SPREAD))
  await world.clock.until(async () => (await world.stored(order)).submission.state === 'acknowledged', 'it is found')
  const cancelled = await world.given(world.cancel(order))
  assert.equal(cancelled.status, 'cancelled')
  assert.equal(world.broker.sent('submit'), 1)
})

test('one that was placed elsewhere is adopted with its legs and their fills', async () => {
  await using world = await bench.world({ capabilities })
  await world.live()
  const outside = world.ledger.addOutside(
    {
      ...{ side: 'SELL', type: 'LMT', tif: 'DAY', symbol: null, instrument: 'MLEG_OPT', notional: null, stopPrice: null },
      quantity: make.decimal('2'),
      limitPrice: make.decimal('1.25'),
      legs: LEGS.map(leg => ({ ...leg, fills: [] }))
    },
    world.account.brokerAccountId
  )
  world.ledger.move(outside.brokerOrderId, 'filled', filled(outside, ['2']))
  await world.clock.until(async () => (await world.orders()).some(({ status }) => status === 'filled'), 'it is adopted')
  const [adopted] = await world.orders()
  assert.ok(adopted !== undefined)
  assert.deepEqual([adopted.side, adopted.instrument, adopted.symbol, adopted.submission.state], ['SELL', 'MLEG_OPT', null, 'external'])
  assert.deepEqual(summary(adopted), ['filled', ['p-0'], [['p-0-1'], ['p-0-2']]])
})

test('a side that the broker has no spread type for is refused before anything is stored', async () => {
  await using world = await bench.world({ capabilities })
  await assert.rejects(
    world.given(world.place({ ...SPREAD, side: 'BUY_TO_OPEN' })),
    (error: unknown) => error instanceof ServiceError && error.code === 'order_not_supported' && /BUY, SELL/.test(error.message)
  )
  assert.deepEqual(await world.orders(), [])
})
