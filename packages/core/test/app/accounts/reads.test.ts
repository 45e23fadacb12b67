// Reads: fresh if the broker answers, otherwise the last known records, and an error only if there are none.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listAccounts } from '@trunkline/core/app/accounts/read-accounts'
import { listBalances, listPositions } from '@trunkline/core/app/accounts/read-holdings'
import { listTransactions, requestedDays } from '@trunkline/core/app/accounts/read-transactions'
import { listOrders } from '@trunkline/core/app/orders/list-orders'
import { readOrder } from '@trunkline/core/app/orders/read-order'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { Order, OrderTicket } from '@trunkline/core/domain/order'
import { parseDay } from '@trunkline/core/domain/timestamp'
import { CommitUnknown, type PageRequest, StoreUnavailable } from '@trunkline/core/ports/store'
import { Bench, type World } from '@trunkline/testkit/bench'
import * as make from '@trunkline/testkit/store-contract/records'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const PAGE = { limit: 100, edge: null, descending: true } as const

async function cash(world: World): Promise<string | null | undefined> {
  return (await world.given(listBalances(world.app, world.caller, {}))).rows[0]?.balance.cash
}

async function held(world: World): Promise<readonly (readonly [string, string])[]> {
  const { rows } = await world.given(listPositions(world.app, world.caller, {}, null))
  return rows.map(({ position }) => [position.symbol, position.quantity] as const)
}

function orders(world: World) {
  return listOrders(world.app, world.caller, {}, {}, 'entryTime', PAGE)
}

function transactions(world: World, from: string | null = null, to: string | null = null) {
  const day = (text: string | null) => (text === null ? null : parseDay(text, 'day'))
  return listTransactions(world.app, world.caller, {}, { ...requestedDays(world.clock, day(from), day(to)), types: null }, PAGE)
}

function fill(world: World, { brokerOrderId }: Order, quantity = '10') {
  assert.ok(brokerOrderId)
  return world.ledger.fill(brokerOrderId, quantity, '10')
}

function isUnavailable(cause: unknown): boolean {
  return cause instanceof ServiceError && cause.code === 'broker_unavailable' && cause.retryAfterSeconds !== undefined
}

test('concurrent reads share one call to the broker, and reads within the freshness time make none', async () => {
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

test('the effect of a fill is in every read that begins after the fill was published', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  assert.deepEqual([await cash(world), await held(world)], ['100000', []])
  fill(world, order)
  await world.clock.settled()
  assert.deepEqual([await cash(world), await held(world)], ['99900', [['SPY', '10']]])
})

test('a read that joins a call made before a fill calls again', async () => {
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

test('if a broker is down, reads return the last known records, with the time they were confirmed', async () => {
  await using world = await bench.world()
  const before = await world.given(listBalances(world.app, world.caller, {}))
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  await world.clock.advance(60_000)
  assert.deepEqual((await world.given(listBalances(world.app, world.caller, {}))).rows, before.rows)
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
      transactions(world),
      orders(world)
    ]
    const results = await world.given(Promise.allSettled(reads))
    assert.ok(
      results.every(result => result.status === 'rejected' && isUnavailable(result.reason)),
      JSON.stringify(results)
    )
    assert.ok(world.clock.monotonicMs() - start <= 5_000)
    // A request that never ends does not block the next one.
    world.broker.readPlan = () => ({})
    await world.clock.advance(60_000)
    assert.equal(await cash(world), '100000')
    assert.deepEqual((await world.given(transactions(world))).rows, [])
  })
}

test('an order placed here is shown even if its broker has never answered a read', async () => {
  await using world = await bench.world()
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  const order = await world.given(world.place())
  assert.deepEqual((await world.given(orders(world))).page.rows, [order])
})

test('a BROKEN connection shows the last known records, and its broker is not called', async () => {
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
  const { rows, freshness } = await world.given(listBalances(world.app, world.caller, {}))
  assert.equal(rows.length, 1)
  assert.deepEqual(freshness.map(({ state }) => state).toSorted(), ['fresh', 'unavailable'])
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
  assert.equal((await world.given(orders(world))).page.rows[0]?.status, 'filled')
})

test('a broker without transactions gets no request for them: the list is empty and marked as such, and the connection’s health is unaffected', async () => {
  await using world = await bench.world({ capabilities: { transactions: false } })
  world.broker.readPlan = kind => (kind === 'transactions' ? { fault: 'refused' } : {})
  for (let round = 0; round < 3; round += 1) {
    const { rows, freshness } = await world.given(transactions(world))
    assert.deepEqual(rows, [])
    assert.deepEqual(freshness, [{ accountId: world.account.accountId, confirmed: null, state: 'unsupported', reason: null }])
    await world.clock.advance(10_000)
  }
  assert.equal(world.broker.reads.transactions, 0)
  assert.notEqual(world.health.state, 'stale')
})

test('a connection that broke before anything was read shows empty lists, and the reason', async () => {
  await using world = await bench.world()
  world.broker.reject()
  await world.given(Promise.allSettled([listBalances(world.app, world.caller, {})]))
  const reads = [
    await world.given(listBalances(world.app, world.caller, {})),
    await world.given(listPositions(world.app, world.caller, {}, null)),
    await world.given(transactions(world))
  ]
  const { page, freshness } = await world.given(orders(world))
  for (const { rows, freshness: found } of [...reads, { rows: page.rows, freshness }]) {
    assert.deepEqual(rows, [])
    assert.deepEqual(found, [{ accountId: world.account.accountId, confirmed: null, state: 'unavailable', reason: 'connection_broken' }])
  }
})

const WRITES = /^(?:accounts\.put|orders\.(?:record|confirmed)|connections\.markBroken|audit\.append)/

const ELSEWHERE: OrderTicket = {
  ...{ symbol: 'SPY', side: 'BUY', type: 'LMT', tif: 'DAY', instrument: 'STK', notional: null, stopPrice: null, legs: null },
  quantity: parseDecimal('5', 'quantity'),
  limitPrice: parseDecimal('10.00', 'limitPrice')
}

/** From now on the store accepts no writes, like a read-only or full one. */
function readOnly(world: World, failure: Error): void {
  world.watched.intercept = call => (WRITES.test(call.name) ? Promise.reject(failure) : call.go())
}

for (const failure of [new StoreUnavailable('the disk is full'), new CommitUnknown('the line was lost')]) {
  const isFull = failure instanceof StoreUnavailable

  test(`a store that ${isFull ? 'takes no writes' : 'confirms no commit'} leaves the last stored records of an account without followers, marked as such`, async () => {
    await using world = await bench.world()
    world.ledger.fill(world.ledger.addOutside(ELSEWHERE, world.account.brokerAccountId).brokerOrderId, '5')
    const [first] = (await world.given(orders(world))).page.rows
    assert.ok(first)
    const everything = async () => {
      const read = await world.given(readOrder(world.app, world.caller, null, first.orderId))
      const { page, freshness } = await world.given(orders(world))
      return [
        await world.given(listBalances(world.app, world.caller, {})),
        await world.given(listPositions(world.app, world.caller, {}, null)),
        await world.given(transactions(world)),
        { rows: page.rows, freshness },
        { rows: [read.order], freshness: read.freshness }
      ]
    }
    assert.equal(world.app.mirrors.count, 0)
    const before = await everything()
    await world.clock.advance(60_000)
    const counts = { ...world.broker.reads }
    readOnly(world, failure)
    const during = await everything()
    assert.ok(world.broker.reads.balances > counts.balances && world.broker.reads.orders > counts.orders, 'the broker was asked')
    for (const [index, { rows, freshness }] of during.entries()) {
      assert.deepEqual(rows, before[index]?.rows)
      const confirmed = before[index]?.freshness[0]?.confirmed
      assert.ok(confirmed)
      assert.deepEqual(freshness, [{ accountId: world.account.accountId, confirmed, state: 'stale', reason: 'not_stored' }])
    }
    assert.match(world.health.reason ?? '', /could not be stored/)
    const listed = await world.given(listAccounts(world.app, world.caller, {}))
    assert.deepEqual([listed.freshness[0]?.state, listed.freshness[0]?.reason], ['stale', 'not_stored'])
    world.watched.intercept = null
    await world.clock.advance(60_000)
    assert.deepEqual(
      (await everything()).map(({ freshness }) => freshness[0]?.state),
      ['fresh', 'fresh', 'fresh', 'fresh', 'fresh']
    )
    assert.equal(world.health.state, 'polling')
  })

  test(`nothing known, and the store ${isFull ? 'takes no writes' : 'confirms no commit'}: unavailable, as the store's failure`, async () => {
    await using world = await bench.world()
    readOnly(world, failure)
    const reads = [
      listBalances(world.app, world.caller, {}),
      listPositions(world.app, world.caller, {}, null),
      transactions(world),
      orders(world)
    ]
    for (const result of await world.given(Promise.allSettled(reads)))
      assert.ok(result.status === 'rejected' && result.reason instanceof ServiceError && result.reason.code === 'store_unavailable')
  })
}

test('a rejection of the credentials that cannot be recorded leaves the last known records, and is recorded once that works', async () => {
  await using world = await bench.world()
  assert.equal(await cash(world), '100000')
  world.broker.readPlan = () => ({ fault: 'credentials_rejected' })
  readOnly(world, new StoreUnavailable('read-only'))
  const read = async () => (await world.given(listBalances(world.app, world.caller, {}))).freshness[0]?.reason
  await world.clock.advance(60_000)
  assert.equal(await read(), 'broker_unavailable')
  world.watched.intercept = null
  assert.equal(await read(), 'connection_broken')
})

test('freshness of records: live, fresh, or stale with the time they were confirmed, separately for each kind', async () => {
  await using world = await bench.world()
  const balances = async () => (await world.given(listBalances(world.app, world.caller, {}))).freshness[0]
  const confirmed = world.clock.now()
  assert.deepEqual([(await balances())?.state, (await balances())?.confirmed], ['fresh', confirmed])
  await world.live()
  assert.equal((await balances())?.state, 'live')
  assert.equal((await world.given(orders(world))).freshness[0]?.state, 'live')
  world.broker.streams.down(true)
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  await world.clock.advance(60_000)
  const stale = await balances()
  assert.deepEqual([stale?.state, stale?.reason], ['stale', 'broker_unavailable'])
  assert.ok(stale?.confirmed !== null && stale?.confirmed !== undefined && stale.confirmed >= confirmed)
  await assert.rejects(world.given(transactions(world)), isUnavailable)
})

test('the same request for transactions has the same answer, whatever was requested before', async () => {
  await using world = await bench.world()
  const long = make.transaction(world.account, 'long ago', '2020-01-02')
  await bench.store.accounts.putTransactions(world.account, [long], {
    from: make.day('2020-01-01'),
    to: make.day('2020-01-31'),
    at: make.at(0)
  })
  assert.deepEqual((await world.given(transactions(world))).rows, [])
  assert.equal((await world.given(transactions(world, '2020-01-01'))).rows.length, 1)
  assert.deepEqual((await world.given(transactions(world))).rows, [])
})

test('every read of transactions that begins after a fill was published contains it', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  assert.deepEqual((await world.given(transactions(world))).rows, [])
  fill(world, order, '4')
  await world.clock.settled()
  assert.deepEqual(
    (await world.given(transactions(world))).rows.map(({ transaction }) => [transaction.quantity, transaction.orderId]),
    [['4', order.orderId]]
  )
})

test('transactions of one day keep their order, newest first, when read again and in pages', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  const quantities = async () => (await world.given(transactions(world))).rows.map(({ transaction }) => transaction.quantity)
  fill(world, order, '1')
  fill(world, order, '2')
  await world.clock.settled()
  assert.deepEqual(await quantities(), ['2', '1'])
  fill(world, order, '3')
  await world.clock.settled()
  assert.deepEqual(await quantities(), ['3', '2', '1'])
  const query = { ...requestedDays(world.clock, null, null), types: null }
  const pageAt = (edge: PageRequest['edge']) =>
    world.given(listTransactions(world.app, world.caller, {}, query, { ...PAGE, limit: 1, edge }))
  const walked: (string | null)[] = []
  for (let page = await pageAt(null); ; ) {
    walked.push(...page.rows.map(({ transaction }) => transaction.quantity))
    if (page.next === null || walked.length > 3) break
    // Transactions added between pages are sorted before these, and move nothing.
    fill(world, order, '1')
    await world.clock.settled()
    page = await pageAt({ side: 'after', key: page.next })
  }
  assert.deepEqual(walked, ['3', '2', '1'])
})

test('a list that ends in the first days of the calendar begins with the first', () => {
  assert.deepEqual(requestedDays(new VirtualClock(), null, parseDay('0001-01-02', 'day')), { from: '0001-01-01', to: '0001-01-02' })
})
