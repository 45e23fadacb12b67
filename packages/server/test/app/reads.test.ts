// Reads: fresh where the broker answers, the last known where it does not, and an error only where there is nothing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listBalances } from '@trunkline/core/app/accounts/read-balances'
import { listPositions } from '@trunkline/core/app/accounts/read-positions'
import { listTransactions } from '@trunkline/core/app/accounts/read-transactions'
import { listOrders } from '@trunkline/core/app/orders/list-orders'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { Order } from '@trunkline/core/domain/order'
import { Bench, type World } from './bench.ts'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const PAGE = { limit: 100, edge: null, descending: true } as const

async function cash(world: World): Promise<string | null | undefined> {
  return (await world.given(listBalances(world.app, world.caller, {})))[0]?.balance.cash
}

async function held(world: World): Promise<readonly (readonly [string, string])[]> {
  const positions = await world.given(listPositions(world.app, world.caller, {}, null))
  return positions.map(({ position }) => [position.symbol, position.quantity] as const)
}

function orders(world: World) {
  return listOrders(world.app, world.caller, {}, {}, 'entryTime', PAGE)
}

function fill(world: World, { brokerOrderId }: Order, quantity = '10') {
  assert.ok(brokerOrderId)
  return world.book.fill(brokerOrderId, quantity, '10')
}

function isUnavailable(cause: unknown): boolean {
  return cause instanceof ServiceError && cause.code === 'broker_unavailable' && cause.retryAfterSeconds !== undefined
}

test('many who read at once share one question, and within the freshness time nobody asks again', async () => {
  await using world = await bench.world()
  world.broker.readPlan = () => ({ afterMs: 100 })
  await world.given(Promise.all(Array.from({ length: 20 }, () => listBalances(world.app, world.caller, {}))))
  assert.equal(world.broker.reads.balances, 1)
  await world.clock.advance(1_500)
  await cash(world)
  assert.equal(world.broker.reads.balances, 1)
  await world.clock.advance(2_000)
  await cash(world)
  assert.equal(world.broker.reads.balances, 2)
})

test('what a fill did is in every read that begins after the fill was told', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  assert.deepEqual([await cash(world), await held(world)], ['100000', []])
  fill(world, order)
  await world.clock.settled()
  assert.deepEqual([await cash(world), await held(world)], ['99900', [['SPY', '10']]])
})

test('a read that joins a question asked before a fill asks once more', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  world.broker.readPlan = kind => (kind === 'positions' ? { afterMs: 500 } : {})
  const early = listPositions(world.app, world.caller, {}, null)
  await world.clock.advance(100)
  fill(world, order)
  await world.clock.advance(100)
  assert.deepEqual(await held(world), [['SPY', '10']])
  await world.given(early)
})

test('a broker that is down leaves the last known records, with the time they were confirmed', async () => {
  await using world = await bench.world()
  const before = await world.given(listBalances(world.app, world.caller, {}))
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  await world.clock.advance(60_000)
  assert.deepEqual(await world.given(listBalances(world.app, world.caller, {})), before)
  const connection = await world.watched.store.connections.find(world.connection.connectionId)
  assert.equal(connection?.status, 'ACTIVE')
})

for (const plan of [{ fault: 'unreachable' }, { fault: 'rate_limited' }, { hangs: 'deadline' }, { hangs: 'for_ever' }] as const) {
  test(`nothing known, and the broker ${JSON.stringify(plan)}: unavailable, within the read time`, async () => {
    await using world = await bench.world()
    world.broker.readPlan = () => plan
    const start = world.clock.monotonicMs()
    const reads = [
      listBalances(world.app, world.caller, {}),
      listPositions(world.app, world.caller, {}, null),
      listTransactions(world.app, world.caller, {}, null, null),
      orders(world)
    ]
    const results = await world.given(Promise.allSettled(reads))
    assert.ok(
      results.every(result => result.status === 'rejected' && isUnavailable(result.reason)),
      JSON.stringify(results)
    )
    assert.ok(world.clock.monotonicMs() - start <= 5_000)
    // A question that never ends does not stand in the way of the next.
    world.broker.readPlan = () => ({})
    await world.clock.advance(60_000)
    assert.equal(await cash(world), '100000')
    assert.deepEqual(await world.given(listTransactions(world.app, world.caller, {}, null, null)), [])
  })
}

test('an order placed here is shown although its broker has never answered a read', async () => {
  await using world = await bench.world()
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  const order = await world.given(world.place())
  assert.deepEqual((await world.given(orders(world))).rows, [order])
})

test('a connection that is BROKEN shows the last known records and is asked no more', async () => {
  await using world = await bench.world()
  assert.equal(await cash(world), '100000')
  await world.clock.advance(10_000)
  world.broker.readPlan = () => ({ fault: 'credentials_rejected' })
  assert.equal(await cash(world), '100000')
  const { balances } = world.broker.reads
  await world.clock.advance(10_000)
  assert.equal(await cash(world), '100000')
  assert.equal(world.broker.reads.balances, balances)
})

test('one account that cannot be read does not hide the others', async () => {
  await using world = await bench.world({ accounts: 2 })
  let count = 0
  world.broker.readPlan = () => {
    count += 1
    return count === 1 ? { fault: 'unreachable' } : {}
  }
  const balances = await world.given(listBalances(world.app, world.caller, {}))
  assert.equal(balances.length, 1)
})

test('orders of a live mirror are read from the store, those of a broken stream from the broker', async () => {
  await using world = await bench.world()
  await world.live()
  const before = world.broker.reads.orders
  await world.given(orders(world))
  assert.equal(world.broker.reads.orders, before)
  const order = await world.given(world.place())
  world.broker.streams.down(true)
  fill(world, order)
  await world.clock.advance(2_500)
  assert.equal((await world.stored(order)).status, 'working')
  assert.equal((await world.given(orders(world))).rows[0]?.status, 'filled')
})
