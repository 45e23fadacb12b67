// The accuracy of a mirror: nothing ends by being omitted, nothing pending stays so, and no execution counts twice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { AccountRecords } from '@trunkline/core/app/mirror/account-records'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { Order, OrderTicket } from '@trunkline/core/domain/order'
import { Bench, type World } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const TICKET: OrderTicket = {
  ...{ side: 'BUY', type: 'LMT', tif: 'GTC', symbol: 'QQQ', instrument: 'STK', notional: null, stopPrice: null, legs: null },
  quantity: parseDecimal('10', 'quantity'),
  limitPrice: parseDecimal('10.00', 'limitPrice')
}

async function held(world: World): Promise<void> {
  world.app.mirrors.hold(world.connection)
  await world.clock.until(() => world.health.state === 'live', 'live')
}

function idOf(order: Order): string {
  assert.ok(order.brokerOrderId)
  return order.brokerOrderId
}

/** From now on, the events of the stream are lost silently. */
function loseReports(world: World): void {
  world.broker.streams.route = () => []
}

for (const pending of ['pending_cancel', 'pending_replace'] as const) {
  for (const end of ['cancelled', 'working', 'replaced'] as const) {
    test(`an order that is ${pending} because of a request from elsewhere ends as well if its end (${end}) was missed`, async () => {
      await using world = await bench.world()
      await held(world)
      const { brokerOrderId } = world.ledger.addOutside(TICKET, world.account.brokerAccountId)
      await world.clock.settled()
      world.ledger.move(brokerOrderId, pending)
      await world.clock.settled()
      assert.equal((await world.orders())[0]?.status, pending)
      loseReports(world)
      world.ledger.move(brokerOrderId, end)
      await world.clock.advance(1_000)
      assert.deepEqual([(await world.orders())[0]?.status, world.app.resolver.watched], [end, 0])
    })
  }
}

test('an order that stays pending at the broker is looked up repeatedly, and is released when it ends', async () => {
  await using world = await bench.world()
  await held(world)
  const { brokerOrderId } = world.ledger.addOutside(TICKET, world.account.brokerAccountId)
  world.ledger.move(brokerOrderId, 'pending_cancel')
  await world.clock.advance(60_000)
  const calls = world.broker.reads.findOrder
  assert.ok(calls >= 6, String(calls))
  loseReports(world)
  world.ledger.move(brokerOrderId, 'cancelled')
  await world.clock.advance(30_000)
  assert.deepEqual([(await world.orders())[0]?.status, world.app.resolver.watched], ['cancelled', 0])
})

test('the missed end of our own cancel is looked up, on a quiet connection too', async () => {
  await using world = await bench.world()
  await held(world)
  const order = await world.given(world.place())
  loseReports(world)
  world.broker.plans.cancel.push({ status: 'pending_cancel' })
  assert.equal((await world.given(world.cancel(order))).status, 'pending_cancel')
  world.ledger.move(idOf(order), 'cancelled')
  await world.clock.advance(3_000)
  assert.equal((await world.stored(order)).status, 'cancelled')
})

test('after a restart, orders that are pending because of a request from elsewhere are looked up', async () => {
  await using world = await bench.world()
  await held(world)
  const { brokerOrderId } = world.ledger.addOutside(TICKET, world.account.brokerAccountId)
  world.ledger.move(brokerOrderId, 'pending_cancel')
  await world.clock.settled()
  await world.stop()
  world.ledger.move(brokerOrderId, 'cancelled')
  world.broker.readPlan = kind => (kind === 'orders' ? { fault: 'unreachable' } : {})
  await world.restart()
  await world.clock.advance(1_000)
  assert.equal((await world.orders())[0]?.status, 'cancelled')
})

test('an order list that is empty or incomplete closes nothing, and the missing orders are looked up', async () => {
  await using world = await bench.world()
  const orders = [await world.given(world.place()), await world.given(world.place()), await world.given(world.place())]
  await held(world)
  for (const plan of [{ isEmpty: true }, { hides: ({ brokerOrderId }: { brokerOrderId: string }) => brokerOrderId !== 'o-2' }] as const) {
    world.broker.readPlan = kind => (kind === 'orders' ? plan : {})
    world.broker.reads.findOrder = 0
    world.broker.streams.down()
    world.broker.streams.up()
    await world.clock.advance(1_000)
    for (const order of orders) assert.equal((await world.stored(order)).status, 'working')
    assert.equal(world.broker.reads.findOrder, 'isEmpty' in plan ? 3 : 2)
    assert.equal(world.health.state, 'live')
  }
  // While the missing ones cannot be looked up, the snapshot is incomplete.
  world.broker.readPlan = kind => (kind === 'orders' ? { isEmpty: true } : kind === 'findOrder' ? { fault: 'unreachable' } : {})
  world.broker.streams.down()
  world.broker.streams.up()
  await world.clock.advance(20_000)
  assert.equal(world.health.state, 'stale')
})

test('positions that cannot be read, or are missing in one list, are not flat', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  await held(world)
  world.ledger.fill(idOf(order), '10')
  await world.clock.advance(400_000)
  const holdings = async () =>
    (await bench.store.accounts.positions([world.account.accountId])).map(({ symbol, quantity }) => [symbol, quantity])
  assert.deepEqual(await holdings(), [['SPY', '10']])
  const before = (await world.events()).length

  world.broker.readPlan = kind => (kind === 'positions' ? { fault: 'unreachable' } : {})
  world.broker.streams.down()
  world.broker.streams.up()
  await world.clock.advance(20_000)
  assert.deepEqual([await holdings(), world.health.state], [[['SPY', '10']], 'stale'])

  let empty = 0
  world.broker.readPlan = kind => {
    if (kind !== 'positions') return {}
    empty += 1
    return empty === 1 ? { isEmpty: true } : {}
  }
  await world.clock.until(() => world.health.state === 'live', 'live')
  assert.deepEqual([await holdings(), empty, (await world.events()).length], [[['SPY', '10']], 2, before])

  // By the stream as well: a list that lacks it causes a look-up.
  world.broker.streams.push({
    type: 'positions',
    brokerAccountId: world.account.brokerAccountId,
    positions: { items: [], asOf: world.clock.now() }
  })
  await world.clock.settled()
  assert.deepEqual([await holdings(), (await world.events()).length], [[['SPY', '10']], before])
})

test('a position that is gone is reported as zero', async () => {
  await using world = await bench.world()
  const bought = await world.given(world.place())
  await held(world)
  world.ledger.fill(idOf(bought), '10')
  await world.clock.advance(400_000)
  const sold = await world.given(world.place({ side: 'SELL' }))
  world.ledger.fill(idOf(sold), '10')
  await world.clock.advance(400_000)
  assert.deepEqual(await bench.store.accounts.positions([world.account.accountId]), [])
  const last = (await world.events()).findLast(({ topic }) => topic === 'positions')
  assert.equal(last?.topic === 'positions' ? last.data[0]?.quantity : null, '0')
})

test('fills inferred from a snapshot are replaced by the executions that arrive late on the stream', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  await held(world)
  world.broker.reports = 'totals'
  loseReports(world)
  world.ledger.fill(idOf(order), '4', '10.00')
  world.ledger.fill(idOf(order), '6', '11.00')
  world.broker.streams.down()
  world.broker.streams.up()
  await world.clock.settled()
  const inferred = await world.stored(order)
  assert.deepEqual(
    [inferred.status, inferred.fills.map(({ quantity, price, inferred: isInferred }) => [quantity, price, isInferred])],
    ['filled', [['10', '10.6', true]]]
  )
  const report = world.ledger.get(idOf(order))
  const [first, second] = report.fills ?? []
  assert.ok(first && second)
  // Late, the second first, and each of them twice.
  for (const fill of [second, first, second, first]) {
    world.broker.streams.push({ type: 'order', report: { ...report, fills: [fill], status: 'partially_filled' } })
    await world.clock.settled()
    const sum = (await world.stored(order)).fills.reduce((total, { quantity }) => total + Number(quantity), 0)
    assert.equal(sum, 10)
  }
  const real = await world.stored(order)
  assert.deepEqual(real.fills.map(({ fillId }) => fillId).toSorted(), [first.fillId, second.fillId].toSorted())
  assert.deepEqual([real.status, [...world.counted.keys()].filter(name => name.startsWith('order_alarms'))], ['filled', []])
})

test('everything that happened between two snapshots is published once, and in order', async () => {
  await using world = await bench.world()
  const orders = [await world.given(world.place()), await world.given(world.place())]
  await held(world)
  const before = (await world.events()).length
  world.broker.streams.down(true)
  for (const order of orders) world.ledger.fill(idOf(order), '4')
  const outside = world.ledger.addOutside(TICKET, world.account.brokerAccountId)
  await world.clock.advance(10_000)
  world.ledger.fill(outside.brokerOrderId, '10')
  world.broker.streams.up()
  await world.clock.advance(400_000)
  const orderEvents = (await world.events()).slice(before).flatMap(event => (event.topic === 'orders' ? [event.data] : []))
  const lives = Map.groupBy(orderEvents, ({ brokerOrderId }) => brokerOrderId)
  assert.deepEqual(
    orders.map(order => lives.get(idOf(order))?.map(({ status }) => status)),
    [['partially_filled'], ['partially_filled']]
  )
  assert.deepEqual(
    lives.get(outside.brokerOrderId)?.map(({ status }) => status),
    ['working', 'filled']
  )
})

test('a list that confirmed another counts from its request: one that was requested between the two is older', async () => {
  await using world = await bench.world()
  const { brokerAccountId } = world.account
  const { brokerOrderId } = world.ledger.addOutside(TICKET, brokerAccountId)
  world.ledger.fill(brokerOrderId, '10')
  const records = new AccountRecords(world.deps)
  const asOf = world.clock.now()
  const list = (quantity: string, requestedMs: number) => ({
    ...{ asOf, requestedMs },
    items: world.broker.holdings(brokerAccountId).map(item => ({ ...item, quantity: parseDecimal(quantity, 'quantity') }))
  })
  const unneeded = () => assert.fail('nothing is missing')
  await records.putPositions(world.account, list('10', 1), unneeded)
  await records.putPositions(world.account, { items: [], asOf, requestedMs: 2 }, async () => list('7', 4))
  await records.putPositions(world.account, list('8', 3), unneeded)
  const stored = await bench.store.accounts.positions([world.account.accountId])
  assert.deepEqual(
    stored.map(({ quantity }) => quantity),
    ['7']
  )
})

test('if a list has two positions of one symbol, neither is stored: nothing is written, and the read fails', async () => {
  await using world = await bench.world()
  const { brokerAccountId } = world.account
  const { brokerOrderId } = world.ledger.addOutside(TICKET, brokerAccountId)
  world.ledger.fill(brokerOrderId, '10')
  const records = new AccountRecords(world.deps)
  const asOf = world.clock.now()
  const list = (...quantities: readonly string[]) => ({
    asOf,
    items: world.broker
      .holdings(brokerAccountId)
      .flatMap(item => quantities.map((text, at) => ({ ...item, quantity: parseDecimal(text, 'quantity'), brokerPositionId: `${at}` })))
  })
  const stored = async () => (await bench.store.accounts.positions([world.account.accountId])).map(({ quantity }) => quantity)
  await records.putPositions(world.account, list('10'), async () => list('10'))
  await assert.rejects(
    records.putPositions(world.account, list('4', '6'), async () => list('4', '6')),
    { kind: 'malformed' }
  )
  const read = { positions: async () => list('10', '-3') }
  await assert.rejects(records.refreshPositions(read, world.account, new AbortController().signal), { kind: 'malformed' })
  assert.deepEqual(await stored(), ['10'])
  await records.putPositions(world.account, list('7'), async () => list('7'))
  assert.deepEqual(await stored(), ['7'])
})

test('a second read that the broker never answers blocks nothing: later positions are written', async () => {
  await using world = await bench.world()
  const bought = await world.given(world.place())
  await held(world)
  world.ledger.fill(idOf(bought), '10')
  await world.clock.advance(400_000)
  const records = new AccountRecords(world.deps)
  const { brokerAccountId } = world.account
  const asOf = world.clock.now()
  let calls = 0
  const positions = async () => (++calls === 1 ? { items: [], asOf } : await Promise.withResolvers<never>().promise)
  const given = records.refreshPositions({ positions }, world.account, new AbortController().signal)
  const refused = assert.rejects(given, { kind: 'unreachable' })
  await world.clock.advance(60_000)
  await refused
  const items = world.broker.holdings(brokerAccountId).map(item => ({ ...item, quantity: parseDecimal('12', 'quantity') }))
  await records.putPositions(world.account, { items, asOf: world.clock.now() }, () => assert.fail('nothing is missing'))
  const stored = await bench.store.accounts.positions([world.account.accountId])
  assert.deepEqual(
    stored.map(({ quantity }) => quantity),
    ['12']
  )
})
