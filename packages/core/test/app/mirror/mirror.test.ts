// Mirrors: a snapshot, then changes, then differences; every order of the login once, every execution once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listOrders } from '@trunkline/core/app/orders/list-orders'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { Order, OrderTicket } from '@trunkline/core/domain/order'
import { BrokerFault, type OrderReport } from '@trunkline/core/ports/broker'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { Bench, type World } from '@trunkline/testkit/bench'
import * as make from '@trunkline/testkit/store-contract/records'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const TICKET: OrderTicket = {
  ...{ side: 'BUY', type: 'LMT', tif: 'GTC', symbol: 'QQQ', instrument: 'STK', notional: null, stopPrice: null, legs: null },
  quantity: parseDecimal('5', 'quantity'),
  limitPrice: parseDecimal('10.00', 'limitPrice')
}

function outside(world: World, ticket: Partial<OrderTicket> = {}) {
  return world.ledger.addOutside({ ...TICKET, ...ticket }, world.account.brokerAccountId)
}

function idOf(order: Order): string {
  assert.ok(order.brokerOrderId)
  return order.brokerOrderId
}

test('a snapshot first, then the events of the stream', async () => {
  await using world = await bench.world()
  const before = outside(world)
  await world.live()
  const [adopted] = await world.orders()
  assert.deepEqual(
    [adopted?.brokerOrderId, adopted?.clOrdId, adopted?.submission.state],
    [before.brokerOrderId, before.brokerOrderId, 'external']
  )
  const after = outside(world)
  world.ledger.fill(before.brokerOrderId, '2')
  await world.clock.settled()
  const orders = await world.orders()
  assert.deepEqual(
    orders.map(({ brokerOrderId, status }) => [brokerOrderId, status]),
    [
      [before.brokerOrderId, 'partially_filled'],
      [after.brokerOrderId, 'working']
    ]
  )
})

test('everything that a new connection’s broker already shows is published as updates, including ended orders', async () => {
  await using world = await bench.world()
  const ended = outside(world)
  world.ledger.fill(ended.brokerOrderId, '5')
  await world.live()
  await world.clock.settled()
  const orderEvents = (await world.events()).flatMap(event => (event.topic === 'orders' ? [event.data] : []))
  assert.deepEqual(
    orderEvents.map(({ brokerOrderId, status }) => [brokerOrderId, status]),
    [[ended.brokerOrderId, 'filled']]
  )
})

test('after a gap only the differences are published; nothing without any', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  await world.clock.settled()
  const before = (await world.events()).length
  world.broker.streams.down()
  world.broker.streams.up()
  await world.clock.settled()
  assert.equal((await world.events()).length, before)
  assert.equal(world.counted.get('stream_gaps_total SANDBOX lost'), 1)

  world.broker.streams.down()
  world.ledger.fill(idOf(order), '10')
  world.broker.streams.up()
  await world.clock.settled()
  const newEvents = (await world.events()).slice(before)
  assert.deepEqual(newEvents.map(({ topic }) => topic).toSorted(), ['balances', 'orders', 'positions'])
  assert.equal((await world.stored(order)).status, 'filled')
  assert.deepEqual(
    (await world.events()).map(({ seq }) => seq),
    world.published.map(({ seq }) => seq).toSorted((a, b) => a - b)
  )
})

test('an open order that is missing in a list is looked up, and never closed by its absence', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  world.broker.readPlan = kind => (kind === 'orders' || kind === 'findOrder' ? { hides: () => true } : {})
  world.broker.streams.down()
  world.broker.streams.up()
  await world.clock.advance(300_000)
  assert.equal((await world.stored(order)).status, 'working')
  assert.ok(world.broker.reads.findOrder >= 5)
  world.ledger.fill(idOf(order), '10')
  world.broker.readPlan = kind => (kind === 'orders' ? { hides: () => true } : {})
  world.broker.streams.down()
  world.broker.streams.up()
  await world.clock.settled()
  assert.equal((await world.stored(order)).status, 'filled')
})

test('an order from elsewhere is adopted once, even if stream and snapshot report it at once, and the newest report counts', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.streams.down()
  const theirs = outside(world)
  world.broker.streams.up()
  world.ledger.fill(theirs.brokerOrderId, '5')
  world.ledger.fill(outside(world).brokerOrderId, '5')
  await world.clock.settled()
  const orders = await world.orders()
  assert.deepEqual(
    orders.map(({ status, fills }) => [status, fills.length]),
    [
      ['filled', 1],
      ['filled', 1]
    ]
  )
})

test('an order from elsewhere is adopted even if the user gave its id to another order', async () => {
  await using world = await bench.world()
  const theirs = outside(world)
  await world.given(world.place({ clOrdId: theirs.brokerOrderId }))
  await world.live()
  await world.clock.advance(120_000)
  const orders = await world.orders()
  assert.deepEqual(orders.map(({ brokerOrderId }) => brokerOrderId).toSorted(), ['o-1', 'o-2'])
  assert.equal(world.logged.filter(({ message }) => message.includes('opened again')).length, 0)
})

test('one login connected twice: each connection shows the orders from elsewhere', async () => {
  await using world = await bench.world()
  const again = await make.connected(bench.store, world.caller.user)
  const sealed = await bench.store.connections.credentials(world.connection.connectionId)
  assert.ok(sealed)
  outside(world)
  await world.live()
  const adopted = await world.given(world.app.mirrors.freshen([again.connection], again.accounts, 'orders'))
  // This test cannot open its credentials, so it passes in the orders as its stream would.
  assert.equal(adopted.size, 1)
  const [report] = world.ledger.list()
  assert.ok(report)
  await world.given(world.parts.intake.take(again.connection, again.account, report, 'stream'))
  await world.given(world.parts.intake.take(again.connection, again.account, world.ledger.fill(report.brokerOrderId, '5'), 'stream'))
  const { rows } = await bench.store.orders.list({ accountIds: [again.account.accountId] }, 'entryTime', {
    ...{ limit: 10, edge: null, descending: false }
  })
  assert.deepEqual(
    rows.map(({ status, brokerOrderId }) => [status, brokerOrderId]),
    [['filled', report.brokerOrderId]]
  )
})

test('executions reported twice, late and out of order are counted once', async () => {
  await using world = await bench.world()
  await world.live()
  let sent = 0
  world.broker.streams.route = report => {
    sent += 1
    return [
      { report, afterMs: 1_000 - sent * 100 },
      { report, afterMs: sent * 150 }
    ]
  }
  const order = await world.given(world.place())
  for (const quantity of ['1', '2', '3', '4']) world.ledger.fill(idOf(order), quantity)
  await world.clock.advance(2_000)
  const stored = await world.stored(order)
  assert.deepEqual([stored.status, stored.fills.map(({ quantity }) => quantity).toSorted()], ['filled', ['1', '2', '3', '4']])
})

test('events of an account that the login does not have are dropped, with one alarm, and the other events are processed [S79]', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  await world.clock.settled()
  const before = (await world.events()).length
  const [own] = world.ledger.list()
  assert.ok(own !== undefined)
  for (const quantity of ['1', '2', '3'])
    world.broker.streams.publish({
      ...own,
      brokerAccountId: 'somebody-else',
      brokerOrderId: `foreign-${quantity}`,
      quantity
    } as OrderReport)
  await world.clock.settled()
  assert.equal((await world.events()).length, before)
  assert.deepEqual(
    (await world.orders()).map(({ orderId }) => orderId),
    [order.orderId]
  )
  assert.equal(world.counted.get(`stream_foreign_events_total ${world.connection.broker}`), 3)
  const alarms = world.logged.filter(({ level, message }) => level === 'error' && message.startsWith('ALARM'))
  assert.equal(alarms.length, 1)
  assert.ok(!JSON.stringify(alarms).includes('somebody-else'), 'whose it is stays out of the log')
})

test('positions of another account in a broker’s answer about a login’s own are dropped [S79]', async () => {
  await using world = await bench.world()
  await world.live()
  const { brokerAccountId } = world.account
  const unknown = { lastPrice: null, averagePrice: null, unrealizedPl: null, realizedPl: null, dailyPl: null, totalPl: null }
  const own = {
    ...unknown,
    brokerAccountId,
    symbol: 'AAPL',
    instrument: 'STK',
    quantity: parseDecimal('1', 'q'),
    brokerPositionId: null
  } as const
  const items = [own, { ...own, brokerAccountId: 'somebody-else', symbol: 'TSLA' }]
  world.broker.streams.push({ type: 'positions', brokerAccountId, positions: { items, asOf: world.clock.now() } })
  await world.clock.settled()
  const positions = await world.watched.store.accounts.positions([world.account.accountId])
  assert.deepEqual(
    positions.map(({ symbol }) => symbol),
    ['AAPL']
  )
  assert.equal(world.counted.get(`broker_records_refused_total ${world.connection.broker} foreign`), 1)
})

test('rejected credentials break the connection once and end its mirror; other faults do not [S22]', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.streams.fail(new BrokerFault('unreachable', 'gone for a moment'))
  await world.clock.advance(2_000)
  assert.equal(world.app.mirrors.isLive(world.connection.connectionId), true)
  world.broker.readPlan = () => ({ fault: 'credentials_rejected' })
  world.broker.streams.fail(new BrokerFault('credentials_rejected', 'invalid_grant'))
  await world.given(world.app.mirrors.freshen([world.connection], world.accounts, 'balances'))
  await world.clock.advance(10_000)
  const connection = await world.watched.store.connections.find(world.connection.connectionId)
  assert.deepEqual([connection?.status, connection?.brokenReason, world.app.mirrors.count], ['BROKEN', 'invalid_grant', 0])
  const audits = (await bench.store.audit.list(1_000)).filter(
    ({ action, target }) => action === 'connection.break' && target === world.connection.connectionId
  )
  assert.equal(audits.length, 1)
  await assert.rejects(world.given(world.place()), /no longer accepts this connection/)
})

test('a connection that changed is followed again as soon as it is needed', async () => {
  await using world = await bench.world()
  await world.live()
  const { userKey, connectionId } = world.connection
  world.deps.bus.publish({ type: 'connection_renewed', userKey, connectionId, wasBroken: false })
  world.deps.bus.publish({ type: 'connection_changed', userKey, connectionId })
  await world.clock.settled()
  assert.deepEqual([world.app.mirrors.count, world.broker.streams.readers], [0, 0])
  await world.live()
  assert.deepEqual([world.app.mirrors.count, world.broker.streams.readers], [1, 1])
})

test('a mirror ends when its orders have ended, and not before', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  await world.clock.advance(600_000)
  assert.equal(world.app.mirrors.count, 1)
  // The sweep runs from the start of the mirrors.
  await world.given(world.app.ownedWork.start())
  await world.clock.advance(600_000)
  assert.equal(world.app.mirrors.count, 1)
  world.ledger.fill(idOf(order), '10')
  await world.clock.advance(200_000)
  assert.deepEqual([world.app.mirrors.count, world.broker.streams.readers], [0, 0])
})

test('an order placed while its mirror is stopping is followed', async () => {
  // The mirror also requests open orders; here only the sweep should.
  await using world = await bench.world({ timing: { reconcileMs: 3_600_000 } })
  await world.given(world.app.ownedWork.start())
  await world.live()
  let placing: Promise<Order> | null = null
  world.watched.intercept = async call => {
    const result = await call.go()
    const [scope] = call.given
    const isSweep = call.name === 'orders.unfinished' && typeof scope === 'object' && scope !== null && 'connectionId' in scope
    if (isSweep && placing === null) {
      placing = world.place()
      await placing
    }
    return result
  }
  await world.clock.until(() => placing !== null, 'the sweep asks')
  await world.clock.settled()
  world.watched.intercept = null
  assert.ok(placing)
  const order: Order = await placing
  world.ledger.fill(idOf(order), '10')
  await world.clock.settled()
  assert.deepEqual([(await world.stored(order)).status, world.app.mirrors.count], ['filled', 1])
})

test('events that the store could not write are read again at once, not with the next event', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  let failed = 0
  world.watched.intercept = call => {
    if (call.name !== 'orders.record' || failed > 0) return call.go()
    failed += 1
    return Promise.reject(new StoreUnavailable('no room'))
  }
  world.ledger.fill(idOf(order), '10')
  await world.clock.settled()
  assert.deepEqual([failed, world.app.mirrors.isLive(world.connection.connectionId)], [1, false])
  await world.clock.advance(2_000)
  assert.deepEqual([(await world.stored(order)).status, world.app.mirrors.isLive(world.connection.connectionId)], ['filled', true])
})

test('after a restart open orders are followed, and changes of the meantime are found', async () => {
  await using world = await bench.world()
  const [filled, open] = [await world.given(world.place()), await world.given(world.place())]
  await world.stop()
  world.ledger.fill(idOf(filled), '10')
  await world.restart()
  await world.clock.settled()
  assert.deepEqual([(await world.stored(filled)).status, world.app.mirrors.count], ['filled', 1])
  world.ledger.fill(idOf(open), '10')
  await world.clock.settled()
  assert.equal((await world.stored(open)).status, 'filled')
})

test('an open order found by a read is followed from then on, even if it was not placed here', async () => {
  await using world = await bench.world()
  world.broker.listsBy = 'entryTime'
  const theirs = outside(world)
  await world.clock.advance(10_000)
  const list = () => listOrders(world.app, world.caller, {}, {}, 'entryTime', { limit: 10, edge: null, descending: true })
  assert.equal((await world.given(list())).page.rows[0]?.status, 'working')
  await world.clock.advance(7_200_000)
  world.ledger.move(theirs.brokerOrderId, 'cancelled')
  await world.clock.advance(10_000)
  assert.equal((await world.given(list())).page.rows[0]?.status, 'cancelled')
})

test('a broker without a stream is polled', async () => {
  await using world = await bench.world({ capabilities: { accountStream: false } })
  const order = await world.given(world.place())
  world.ledger.fill(idOf(order), '10')
  await world.clock.advance(6_000)
  assert.equal((await world.stored(order)).status, 'filled')
  assert.equal(world.broker.streams.readers, 0)
})

test('a broker whose answers hang does not block the mirror forever', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  world.broker.streams.down()
  world.broker.readPlan = () => ({ hangs: 'for_ever' })
  await world.clock.advance(60_000)
  world.broker.heal()
  world.ledger.fill(idOf(order), '10')
  await world.clock.advance(60_000)
  assert.equal((await world.stored(order)).status, 'filled')
})
