// The machine's wall clock is set while the service runs: it does not affect what is newer, fresh or absent.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listBalances, listPositions } from '@trunkline/core/app/accounts/read-holdings'
import { listTransactions, requestedDays } from '@trunkline/core/app/accounts/read-transactions'
import { listOrders } from '@trunkline/core/app/orders/list-orders'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { Order, OrderTicket } from '@trunkline/core/domain/order'
import { Bench, type World } from '@trunkline/testkit/bench'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Each is a series of settings of the wall clock. */
const MOVES: readonly (readonly number[])[] = [
  [-MINUTE_MS],
  [MINUTE_MS],
  [-5 * MINUTE_MS],
  [5 * MINUTE_MS],
  [-2 * HOUR_MS],
  [2 * HOUR_MS],
  [2 * HOUR_MS, -2 * HOUR_MS],
  [-2 * HOUR_MS, 2 * HOUR_MS, -MINUTE_MS]
]
const TICKET: OrderTicket = {
  ...{ side: 'BUY', type: 'LMT', tif: 'GTC', symbol: 'QQQ', instrument: 'STK', notional: null, stopPrice: null, legs: null },
  quantity: parseDecimal('10', 'quantity'),
  limitPrice: parseDecimal('10.00', 'limitPrice')
}
const PAGE = { limit: 100, edge: null, descending: true } as const

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

async function shown(world: World): Promise<readonly unknown[]> {
  const { rows: balances } = await world.given(listBalances(world.app, world.caller, {}))
  const { rows: positions } = await world.given(listPositions(world.app, world.caller, {}, null))
  return [balances[0]?.balance.cash, positions.map(({ position }) => position.quantity)]
}

function transactions(world: World) {
  return listTransactions(world.app, world.caller, {}, { ...requestedDays(world.clock, null, null), types: null }, PAGE)
}

function fill(world: World, { brokerOrderId }: Order): void {
  assert.ok(brokerOrderId)
  world.ledger.fill(brokerOrderId, '1', '10')
}

for (const moves of MOVES) {
  const name = moves.map(ms => `${ms / MINUTE_MS} min`).join(', ')

  test(`positions and balances equal the broker’s after the clock was set by ${name}`, async () => {
    await using world = await bench.world()
    await world.live()
    const order = await world.given(world.place())
    fill(world, order)
    assert.deepEqual(await shown(world), ['99990', ['1']])
    for (const [index, ms] of moves.entries()) {
      world.clock.setWall(ms)
      fill(world, order)
      const filled = index + 2
      assert.deepEqual(await shown(world), [`${100_000 - 10 * filled}`, [`${filled}`]])
      assert.equal((await world.stored(order)).fills.length, filled)
    }
  })

  test(`an account without followers is read again after the clock was set by ${name} and the service started again`, async () => {
    await using world = await bench.world()
    await shown(world)
    await world.given(transactions(world))
    for (const ms of moves) {
      world.clock.setWall(ms)
      await world.restart()
      const readsBefore = { ...world.broker.reads }
      world.ledger.fill(world.ledger.addOutside(TICKET, world.account.brokerAccountId).brokerOrderId, '1', '10')
      const [cash] = await shown(world)
      assert.equal(cash, world.broker.cash(world.account.brokerAccountId))
      await world.given(transactions(world))
      assert.ok(world.broker.reads.transactions > readsBefore.transactions, 'transactions are read')
    }
  })

  test(`an order placed elsewhere is not missed when the clock was set by ${name}`, async () => {
    await using world = await bench.world()
    const list = () => world.given(listOrders(world.app, world.caller, {}, {}, 'entryTime', PAGE))
    await list()
    for (const [index, ms] of moves.entries()) {
      world.clock.setWall(ms)
      await list()
      await world.clock.advance(MINUTE_MS)
      const outside = world.ledger.addOutside(TICKET, world.account.brokerAccountId)
      world.ledger.fill(outside.brokerOrderId, '10', '10')
      assert.equal((await list()).page.rows.length, index + 1)
    }
  })

  test(`an order that never arrived is found absent when the clock was set by ${name}, and not sooner`, async () => {
    await using world = await bench.world()
    world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
    const order = await world.given(world.place())
    for (const ms of moves) world.clock.setWall(ms)
    await world.clock.advance(50_000)
    assert.equal((await world.stored(order)).status, 'pending')
    await world.clock.advance(30_000)
    assert.equal((await world.stored(order)).submission.state, 'not_received')
  })
}
