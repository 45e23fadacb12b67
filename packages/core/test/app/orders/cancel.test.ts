// Cancels: each order separately and nothing twice; only the broker's answer ends a cancel; during a replacement, the live order is
// stopped.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { cancelOrders } from '@trunkline/core/app/orders/cancel-orders'
import { ServiceError } from '@trunkline/core/domain/errors'
import { type OrderId, parseUuid } from '@trunkline/core/domain/ids'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { Bench, type World } from '@trunkline/testkit/bench'
import type { CommandPlan } from '@trunkline/testkit/scripted-broker/index'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const all = (world: World) => world.given(cancelOrders(world.app, world.caller, { accountId: world.account.accountId }))

test('a cancel of every open order is requested, and each order is reported with its result: confirmed, requested, refused, or filled meanwhile', async () => {
  await using world = await bench.world()
  await world.live()
  for (const clOrdId of ['one', 'two', 'three']) await world.given(world.place({ clOrdId }))
  const done = await world.given(world.place({ clOrdId: 'done' }))
  world.ledger.fill(done.brokerOrderId ?? '', '10')
  await world.clock.advance(1_000)
  // One is confirmed, one is accepted and not confirmed, one is refused.
  world.broker.plans.cancel.push({}, { effect: 'done', status: 'working', replyAfterMs: 10 }, { effect: 'refused', message: 'Too late.' })
  const { results, remaining } = await all(world)
  assert.deepEqual(results.map(({ result }) => result).sort(), ['cancelled', 'refused', 'requested'])
  const failures = results.flatMap(({ failure }) => (failure === null ? [] : [failure]))
  assert.deepEqual(failures, [{ code: 'broker_refused', message: 'Too late.' }])
  assert.equal(remaining, 0)
  for (const { result, order } of results) {
    const stored = await world.stored(order)
    assert.equal(stored.status, result === 'cancelled' ? 'cancelled' : result === 'requested' ? 'pending_cancel' : 'working')
  }
})

test('a repetition sends nothing for cancels already requested, and requests the rest', async () => {
  await using world = await bench.world()
  await world.live()
  await world.given(world.place({ clOrdId: 'first' }))
  world.broker.plans.cancel.push({ effect: 'done', status: 'working', replyAfterMs: 10 })
  assert.deepEqual(
    (await all(world)).results.map(({ result }) => result),
    ['requested']
  )
  await world.clock.advance(1_000)
  await world.given(world.place({ clOrdId: 'second' }))
  const again = await all(world)
  assert.deepEqual(
    again.results.map(({ order, result }) => [order.clOrdId, result]),
    [
      ['second', 'cancelled'],
      ['first', 'requested']
    ]
  )
  assert.equal(world.broker.sent('cancel'), 2)
})

test('an unresolved order keeps its cancel request', async () => {
  await using world = await bench.world()
  world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
  await world.given(world.place())
  const { results } = await all(world)
  assert.deepEqual(
    results.map(({ result, order }) => [result, order.status]),
    [['requested', 'pending']]
  )
})

test('a request handles a limited number of orders and returns the number left', async () => {
  await using world = await bench.world()
  for (const clOrdId of ['a', 'b', 'c', 'd', 'e']) await world.given(world.place({ clOrdId }))
  const some = () => world.given(cancelOrders(world.app, world.caller, {}, 3))
  const [first, second, third] = [await some(), await some(), await some()]
  assert.deepEqual([first.results.length, first.remaining], [3, 2])
  assert.deepEqual([second.results.length, second.remaining], [2, 0])
  assert.deepEqual([third.results.length, third.remaining], [0, 0])
})

test('while a broker does not answer, no cancel is begun after fifteen seconds, and those not begun are reported as such', async () => {
  await using world = await bench.world()
  for (let count = 0; count < 80; count += 1) await world.given(world.place({ clOrdId: `order ${count}` }))
  for (let count = 0; count < 80; count += 1) world.broker.plans.cancel.push({ effect: 'none', reply: 'deadline' })
  const { results } = await all(world)
  const counted = (result: string) => results.filter(each => each.result === result).length
  assert.ok(counted('requested') >= 16, 'those that were begun')
  assert.ok(counted('not_attempted') > 0)
  assert.equal(counted('requested') + counted('not_attempted'), 80)
  for (const { result, order } of results) if (result === 'not_attempted') assert.equal((await world.stored(order)).status, 'working')
})

test('an unexpected error at one order is its own result and is logged; the other orders keep theirs', async t => {
  await using world = await bench.world()
  await world.live()
  for (let count = 0; count < 20; count += 1) await world.given(world.place())
  const { orderWriter } = world.app
  const find = orderWriter.findOf.bind(orderWriter)
  let calls = 0
  t.mock.method(orderWriter, 'findOf', async (...key: Parameters<typeof find>) => {
    calls += 1
    if (calls === 3) throw new Error('connection terminated unexpectedly')
    return find(...key)
  })
  const { results } = await all(world)
  assert.equal(results.filter(({ result }) => result === 'cancelled').length, 19)
  const failed = results.filter(({ result }) => result === 'failed')
  assert.deepEqual(
    failed.map(({ failure, order }) => [failure?.code, order.status]),
    [['internal', 'working']]
  )
  const [first] = failed
  assert.ok(first !== undefined)
  const errors = world.logged.filter(({ level, fields }) => level === 'error' && fields.orderId === first.order.orderId)
  assert.equal(errors.length, 1)
})

test('a cancel that arrived too early for the broker is sent again once the order works', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.plans.submit.push({ status: 'pending' })
  for (let count = 0; count < 4; count += 1) world.broker.plans.cancel.push({ effect: 'none', reply: 'unknown' })
  const order = await world.given(world.place())
  await world.given(world.cancel(order))
  await world.clock.advance(120_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['pending_cancel', 4])
  const [taken] = world.ledger.list()
  assert.ok(taken)
  world.ledger.move(taken.brokerOrderId, 'working')
  await world.clock.advance(1_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['cancelled', 5])
})

test('a cancel that the broker accepted before the order was live, and lost, is sent again once the order works', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.plans.submit.push({ status: 'pending' })
  world.broker.plans.cancel.push({ effect: 'done', status: 'pending', replyAfterMs: 10 })
  const order = await world.given(world.place())
  await world.given(world.cancel(order))
  await world.clock.advance(120_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['pending_cancel', 1])
  const [accepted] = world.ledger.list()
  assert.ok(accepted)
  world.ledger.move(accepted.brokerOrderId, 'working')
  await world.clock.advance(1_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['cancelled', 2])
})

test('an accepted cancel stays pending while the broker is slow, however often older or newer look-ups show the order working', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  // It accepts the request, sends nothing more, and continues to show the order unchanged.
  world.broker.plans.cancel.push({ effect: 'done', status: 'working', replyAfterMs: 10 })
  await world.given(world.cancel(order))
  for (let minute = 0; minute < 4; minute += 1) {
    await world.clock.advance(60_000)
    assert.equal((await world.stored(order)).status, 'pending_cancel')
  }
  assert.equal(world.broker.sent('cancel'), 1, 'what was taken is not sent again')
  assert.ok(order.brokerOrderId)
  world.ledger.move(order.brokerOrderId, 'cancelled')
  await world.clock.advance(1_000)
  assert.equal((await world.stored(order)).status, 'cancelled')
})

test('an accepted cancel that the broker does not carry out within five minutes ends, after a look-up that begins later', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  world.broker.plans.cancel.push({ effect: 'done', status: 'working', replyAfterMs: 10 })
  await world.given(world.cancel(order))
  await world.clock.advance(420_000)
  const after = await world.stored(order)
  assert.deepEqual([after.status, after.pendingRequest], ['working', null])
  assert.match(after.brokerMessage ?? '', /did not cancel/)
})

test('the broker’s acceptance of a cancel survives a restart: it stays pending, is not sent again, and the five minutes begin again', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  world.broker.plans.cancel.push({ effect: 'done', status: 'working', replyAfterMs: 10 })
  await world.given(world.cancel(order))
  await world.clock.advance(120_000)
  await world.restart()
  await world.clock.advance(240_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['pending_cancel', 1])
  await world.given(world.cancel(order))
  assert.equal(world.broker.sent('cancel'), 1, 'nor when it is asked for once more')
  await world.clock.advance(300_000)
  const after = await world.stored(order)
  assert.deepEqual([after.status, after.pendingRequest, world.broker.sent('cancel')], ['working', null, 1])
})

test('a cancel whose acceptance could not be stored counts as accepted in the process that sent it', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  world.broker.plans.cancel.push({ effect: 'done', status: 'working', replyAfterMs: 10 })
  let writes = 0
  world.watched.intercept = call => {
    if (call.name === 'orders.record') writes += 1
    return call.name === 'orders.record' && writes > 1 ? Promise.reject(new StoreUnavailable('gone')) : call.go()
  }
  await world.given(world.cancel(order))
  world.watched.intercept = null
  await world.clock.advance(120_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['pending_cancel', 1])
})

test('a second cancel is not a new request, but one after the first has ended is, even if the clock stands still', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  const at = world.clock.now()
  Object.assign(world.clock, { now: () => at })
  world.broker.plans.cancel.push({ effect: 'done', status: 'working', replyAfterMs: 10 })
  for (let count = 0; count < 3; count += 1) {
    assert.equal((await world.given(world.cancel(order))).status, 'pending_cancel')
    await world.clock.advance(1_000)
  }
  assert.equal(world.broker.sent('cancel'), 1, 'what was taken is not sent again')
  await world.clock.advance(420_000)
  assert.equal((await world.stored(order)).status, 'working')
  await world.given(world.cancel(order))
  await world.clock.advance(1_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['cancelled', 2])
})

test('an acknowledged order that does not work yet is pending_cancel from its cancel on, also after a restart, whatever look-ups show', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.plans.submit.push({ status: 'pending' })
  world.broker.plans.cancel.push({ effect: 'done', status: 'pending', replyAfterMs: 10 })
  const order = await world.given(world.place())
  assert.deepEqual([order.status, order.submission.state], ['pending', 'acknowledged'])
  assert.equal((await world.given(world.cancel(order))).status, 'pending_cancel')
  await world.clock.advance(60_000)
  await world.restart()
  await world.clock.advance(60_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['pending_cancel', 1])
  const [taken] = world.ledger.list()
  assert.ok(taken)
  world.ledger.move(taken.brokerOrderId, 'cancelled')
  await world.clock.advance(30_000)
  assert.equal((await world.stored(order)).status, 'cancelled')
  const history = (await world.events()).flatMap(event => (event.topic === 'orders' ? [event.data.status] : []))
  assert.deepEqual([...new Set(history)], ['pending', 'working', 'pending_cancel', 'cancelled'], 'along the allowed transitions')
})

test('a cancel of an unknown order shows as pending_cancel once the broker has acknowledged the order', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.plans.submit.push({ effectAfterMs: 9_000, reply: 'unknown', status: 'pending' })
  world.broker.plans.cancel.push({ effect: 'done', status: 'pending', replyAfterMs: 10 })
  const order = await world.given(world.place())
  assert.equal((await world.given(world.cancel(order))).status, 'pending')
  await world.clock.advance(20_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['pending_cancel', 1])
})

/** An order, and its pending replacement. */
async function replacing(world: World, plan: CommandPlan) {
  await world.live()
  const old = await world.given(world.place())
  world.broker.plans.replace.push(plan)
  const successor = await world.given(world.modify(old, { clOrdId: 'm-1', limitPrice: '11.00' }))
  assert.deepEqual([(await world.stored(old)).status, successor.status], ['pending_replace', 'pending'])
  return { old, successor }
}

async function statuses(world: World): Promise<string> {
  return (await world.orders()).map(({ clOrdId, status }) => `${clOrdId} ${status}`).join(', ')
}

/** Like brokers that accept no cancel while they process a replacement. */
function refusesFirst(world: World, count: number): void {
  for (let sent = 0; sent < count; sent += 1) world.broker.plans.cancel.push({ effect: 'refused', message: 'The order is being replaced.' })
}

const NOTHING: readonly { readonly name: string; readonly plan: CommandPlan }[] = [
  { name: 'the broker refuses it late', plan: { effect: 'refused', message: 'No.', replyAfterMs: 9_000 } },
  { name: 'the broker took it and does not make it', plan: { effect: 'taken' } },
  { name: 'it never reached the broker', plan: { effect: 'none', reply: 'unknown' } }
]

for (const { name, plan } of NOTHING)
  for (const kind of [{}, { replacedOrderId: 'same', deduplication: 'label' }] as const)
    for (const named of ['old', 'successor'] as const)
      test(`a cancel of the ${named} order stops the old one if the replacement fails: ${name} (${kind.replacedOrderId ?? 'new'} id)`, async () => {
        await using world = await bench.world({ capabilities: kind })
        const both = await replacing(world, plan)
        refusesFirst(world, 4)
        await world.given(world.cancel(both[named]))
        await world.clock.until(async () => (await statuses(world)) === 'c-1 cancelled, m-1 rejected', 'the old order is cancelled')
      })

for (const kind of [{}, { replacedOrderId: 'same', deduplication: 'label' }] as const)
  for (const named of ['old', 'successor'] as const)
    test(`a cancel of the ${named} order stops the new one if the replacement is made (${kind.replacedOrderId ?? 'new'} id)`, async () => {
      await using world = await bench.world({ capabilities: kind })
      const both = await replacing(world, { effect: 'taken' })
      refusesFirst(world, 4)
      await world.given(world.cancel(both[named]))
      await world.clock.advance(60_000)
      const [request] = world.broker.taken
      assert.ok(request)
      world.ledger.replace(request)
      await world.clock.until(async () => (await statuses(world)) === 'c-1 replaced, m-1 cancelled', 'the new order is cancelled', 60_000)
    })

test('a cancel during a replacement is sent at once: a broker that accepts it stops the order long before the replacement is decided', async () => {
  await using world = await bench.world()
  await replacing(world, { effect: 'taken' })
  const { results } = await world.given(cancelOrders(world.app, world.caller, {}))
  assert.deepEqual(
    results.map(({ order, result }) => `${order.clOrdId} ${result}`),
    ['c-1 cancelled', 'm-1 requested']
  )
  assert.equal(world.broker.sent('cancel'), 1)
  await world.clock.until(async () => (await statuses(world)) === 'c-1 cancelled, m-1 rejected', 'both have ended')
})

test('cancelling all while a broker accepts no cancel reports both orders as requested, and one of them is cancelled in the end', async () => {
  await using world = await bench.world()
  await replacing(world, { effect: 'refused', message: 'No.', replyAfterMs: 9_000 })
  refusesFirst(world, 1)
  const { results } = await world.given(cancelOrders(world.app, world.caller, {}))
  assert.deepEqual(
    results.map(({ order, result }) => `${order.clOrdId} ${result}`),
    ['c-1 requested', 'm-1 requested']
  )
  await world.clock.until(async () => (await statuses(world)) === 'c-1 cancelled, m-1 rejected', 'the old order is cancelled')
})

test('a cancel during a replacement survives a restart', async () => {
  await using world = await bench.world()
  const { successor } = await replacing(world, { effect: 'none', reply: 'unknown' })
  world.broker.plan = kind => (kind === 'cancel' ? { effect: 'refused', message: 'The order is being replaced.' } : {})
  await world.given(world.cancel(successor))
  await world.restart()
  world.broker.plan = () => ({})
  await world.clock.until(async () => (await statuses(world)) === 'c-1 cancelled, m-1 rejected', 'the old order is cancelled')
})

for (const when of ['after its rejection was stored', 'while its rejection is being stored'] as const)
  test(`a cancel of a rejected successor, ${when}, is answered as not open and cancels nothing`, async () => {
    await using world = await bench.world()
    const { old, successor } = await replacing(world, { effect: 'refused', message: 'No.', replyAfterMs: 9_000 })
    const cancelling = Promise.withResolvers<PromiseSettledResult<unknown>>()
    const cancel = async () => {
      const [settled] = await Promise.allSettled([world.cancel(successor)])
      cancelling.resolve(settled)
    }
    let writes = 0
    world.watched.intercept = async call => {
      if (call.name !== 'orders.record') return call.go()
      writes += 1
      if (writes === 1 && when.startsWith('while')) void cancel()
      // The successor is rejected, but the release of the old order cannot be stored yet.
      if (writes === 2) throw new StoreUnavailable('busy for a moment')
      return call.go()
    }
    await world.clock.until(async () => (await world.stored(successor)).status === 'rejected', 'it is rejected', 30_000)
    await world.clock.until(() => writes >= 2, 'the second write fails', 30_000)
    world.watched.intercept = null
    if (when.startsWith('after')) void cancel()
    const settled = await world.given(cancelling.promise)
    assert.ok(settled.status === 'rejected' && settled.reason instanceof ServiceError && settled.reason.code === 'order_not_open')
    await world.clock.advance(120_000)
    assert.deepEqual([await statuses(world), world.broker.sent('cancel')], ['c-1 working, m-1 rejected', 0])
    assert.equal((await world.stored(old)).pendingRequest, null)
  })

test('at a BROKEN connection an order that does not exist is not found, and one that does is refused for the connection', async () => {
  await using world = await bench.world()
  await world.live()
  const known = await world.given(world.place())
  world.broker.rejects = new BrokerFault('credentials_rejected', 'the login has ended')
  await world.given(world.place().catch(() => null))
  assert.equal((await world.watched.store.connections.find(world.connection.connectionId))?.status, 'BROKEN')
  const unknown = { orderId: parseUuid<OrderId>('00000000-0000-4000-8000-000000000000', 'order_id') }
  for (const [order, code] of [
    [unknown, 'order_not_found'],
    [known, 'connection_broken']
  ] as const) {
    const isCode = (error: unknown) => error instanceof ServiceError && error.code === code
    await assert.rejects(world.cancel(order), isCode)
    await assert.rejects(world.modify(order, { clOrdId: 'changed', limitPrice: '9.00' }), isCode)
  }
  assert.equal(world.broker.sent('cancel') + world.broker.sent('replace'), 0)
})
