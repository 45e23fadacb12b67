// Placing: every outcome of the single send, in every order of its events.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { notSent } from '@trunkline/core/app/execution/order-steps'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { Order } from '@trunkline/core/domain/order'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'
import { Bench, type World } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

test('an accepted order is working and was sent once', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  assert.equal(order.status, 'working')
  assert.deepEqual(order.submission, { ...order.submission, state: 'acknowledged', attempts: 1, method: 'reply' })
  assert.equal(world.ledger.arrivals(order.brokerClOrdId), 1)
  assert.deepEqual(await world.stored(order), order)
})

test('a refused order is rejected with the broker’s message', async () => {
  await using world = await bench.world()
  world.broker.plans.submit.push({ effect: 'refused', message: 'Not enough money.' })
  const order = await world.given(world.place())
  assert.deepEqual([order.status, order.submission.state, order.brokerMessage], ['rejected', 'refused', 'Not enough money.'])
  assert.equal(world.app.resolver.watched, 0)
})

test('a rejected order has a reject code, and no other order does', async () => {
  await using world = await bench.world()
  world.broker.plans.submit.push(
    { effect: 'refused', rejectCode: 'insufficient_funds' },
    { effect: 'refused_and_kept', rejectCode: 'market_closed' },
    {},
    {},
    { reply: 'not_sent' }
  )
  await world.live()
  const placed: Order[] = []
  for (const clOrdId of ['refused', 'kept', 'later', 'part', 'unsent']) placed.push(await world.given(world.place({ clOrdId })))
  const [, , later, part] = placed
  assert.ok(later !== undefined && part !== undefined)
  assert.deepEqual([later.status, later.rejectCode], ['working', null])
  world.ledger.move(later.brokerOrderId ?? '', 'rejected', { rejectCode: 'risk_rejected', brokerMessage: 'Too risky.' })
  world.ledger.fill(part.brokerOrderId ?? '', '3')
  world.ledger.move(part.brokerOrderId ?? '', 'rejected', { rejectCode: 'risk_rejected' })
  await world.clock.advance(5_000)
  const outcomes = async () => (await Promise.all(placed.map(order => world.stored(order)))).map(order => [order.status, order.rejectCode])
  const expected = [
    ['rejected', 'insufficient_funds'],
    ['rejected', 'market_closed'],
    ['rejected', 'risk_rejected'],
    // An order with a partial fill can no longer be rejected.
    ['cancelled', null],
    // No broker rejected it.
    ['rejected', null]
  ]
  assert.deepEqual(await outcomes(), expected)
  // The reason is reported less exactly, or not at all.
  world.ledger.move(later.brokerOrderId ?? '', 'rejected', { rejectCode: 'other' })
  world.ledger.move(later.brokerOrderId ?? '', 'rejected', { rejectCode: null, brokerStatus: 'gone' })
  await world.clock.advance(5_000)
  assert.deepEqual(await outcomes(), expected)
})

test('an order that was not sent is rejected as not sent, and counts no attempt', async () => {
  await using world = await bench.world()
  world.broker.plans.submit.push({ reply: 'not_sent' })
  const order = await world.given(world.place())
  assert.deepEqual([order.status, order.submission.state, order.submission.attempts], ['rejected', 'not_sent', 0])
  assert.match(order.brokerMessage ?? '', /safe to place it again/)
  assert.equal(world.broker.sent('submit'), 0)
})

test('why an order was not sent is what the adapter says, and never the text of a fault of ours', () => {
  const messages = [
    new BrokerFault('rate_limited', 'the broker’s rate limit leaves no capacity for 5000 ms'),
    new TypeError('Cannot read properties of undefined')
  ].map(cause => notSent('order', cause).message)
  assert.deepEqual(messages, [
    'The order was not sent to the broker (the broker’s rate limit leaves no capacity for 5000 ms).',
    'The order was not sent to the broker (the service could not make the request).'
  ])
})

for (const reply of ['unknown', 'throws'] as const) {
  test(`an order whose answer ${reply === 'throws' ? 'is an exception' : 'is lost'} is pending, then found`, async () => {
    await using world = await bench.world()
    world.broker.streams.down()
    world.broker.plans.submit.push({ reply })
    const order = await world.given(world.place())
    assert.deepEqual([order.status, order.submission.state], ['pending', 'unknown'])
    await world.clock.advance(600)
    const found = await world.stored(order)
    assert.deepEqual([found.status, found.submission.state, found.submission.method], ['working', 'acknowledged', 'lookup'])
    assert.equal(world.broker.sent('submit'), 1)
  })
}

test('an answer that arrives after the request’s wait is still applied', async () => {
  await using world = await bench.world()
  world.broker.streams.down()
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  world.broker.plans.submit.push({ replyAfterMs: 20_000, effectAfterMs: 4_000 })
  const order = await world.given(world.place())
  assert.equal(world.clock.monotonicMs() - 1_000, 5_000)
  assert.deepEqual([order.status, order.submission.state], ['pending', 'submitting'])
  await world.clock.advance(20_000)
  assert.equal((await world.stored(order)).submission.method, 'reply')
})

for (const reply of ['deadline', 'never'] as const) {
  test(`a command that hangs${reply === 'never' ? ' and ignores its deadline' : ''} is looked up after the deadline`, async () => {
    await using world = await bench.world()
    world.broker.streams.down()
    world.broker.plans.submit.push({ reply, effect: 'none' })
    const order = await world.given(world.place())
    assert.equal(order.submission.state, 'submitting')
    await world.clock.advance(40_000)
    assert.equal((await world.stored(order)).submission.state, 'unknown')
    await world.clock.advance(120_000)
    assert.deepEqual([(await world.stored(order)).status, (await world.stored(order)).submission.state], ['rejected', 'not_received'])
    assert.equal(world.app.resolver.watched, 0)
  })
}

test('a fill that arrives before the reply is counted once, and the older reply reverts nothing', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.plans.submit.push({ replyAfterMs: 1_000 })
  const placing = world.place()
  await world.clock.advance(10)
  const [taken] = world.ledger.list()
  assert.ok(taken)
  world.ledger.fill(taken.brokerOrderId, '10')
  await world.clock.advance(10)
  const [seen] = await world.orders()
  assert.deepEqual([seen?.status, seen?.submission.method], ['filled', 'stream'])
  const order = await world.given(placing)
  assert.deepEqual([order.status, order.fills.length, order.lastExecTime], ['filled', 1, world.ledger.get(taken.brokerOrderId).updatedAt])
})

test('a refusal that follows the stream’s acknowledgement does not end the order', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.plans.submit.push({ effect: 'refused', replyAfterMs: 1_000 })
  const placing = world.place()
  await world.clock.advance(10)
  const [stored] = await world.orders()
  assert.ok(stored)
  world.ledger.add({ ...stored, brokerAccountId: world.account.brokerAccountId }, 'working')
  const order = await world.given(placing)
  assert.deepEqual([order.status, order.submission.state, order.submission.method], ['working', 'acknowledged', 'stream'])
})

test('a cl_order_id can be used once a day, in sequence and concurrently', async () => {
  await using world = await bench.world()
  const first = await world.given(world.place({ clOrdId: 'same' }))
  const again = world.place({ clOrdId: 'same', quantity: '99' })
  await assert.rejects(world.given(again), isDuplicateOf(first))

  const race = await world.given(Promise.allSettled(Array.from({ length: 8 }, () => world.place({ clOrdId: 'race' }))))
  const [winner, ...others] = race.filter(result => result.status === 'fulfilled').map(({ value }) => value)
  assert.ok(winner)
  assert.equal(others.length, 0)
  for (const result of race) if (result.status === 'rejected') assert.ok(isDuplicateOf(winner)(result.reason))
  assert.equal(world.broker.sent('submit'), 2)
})

test('an intent that cannot be written is not sent', async () => {
  await using world = await bench.world()
  failRecords(world, 1, () => Promise.reject(new StoreUnavailable('no room')))
  await assert.rejects(world.given(world.place()), StoreUnavailable)
  assert.deepEqual([world.broker.sent('submit'), (await world.orders()).length], [0, 0])
})

test('an intent whose commit was not confirmed but can be read is sent, and its event is published', async () => {
  await using world = await bench.world()
  failRecords(world, 1, async go => {
    await go()
    throw new CommitUnknown('lost at the commit')
  })
  const order = await world.given(world.place())
  assert.equal(order.status, 'working')
  const events = world.published.filter(({ topic }) => topic === 'orders')
  assert.deepEqual(
    events.map(({ seq }) => seq),
    [1, 2]
  )
})

test('an intent that is found written later ends as not sent, and is not left submitting', async () => {
  await using world = await bench.world()
  let commit = () => Promise.resolve<unknown>(undefined)
  failRecords(world, 1, async go => {
    commit = go
    throw new CommitUnknown('lost at the commit')
  })
  await assert.rejects(world.given(world.place()), CommitUnknown)
  assert.equal(world.broker.sent('submit'), 0)
  // The database was slow: the row is visible only now.
  await world.clock.advance(2_000)
  await world.given(commit())
  await world.clock.advance(2_000)
  const [order] = await world.orders()
  assert.deepEqual([order?.status, order?.submission.state], ['rejected', 'not_sent'])
  assert.deepEqual([world.app.unconfirmed.followed, world.app.resolver.watched], [0, 0])
})

test('an intent that was never written leaves no watch', async () => {
  await using world = await bench.world()
  failRecords(world, 1, () => Promise.reject(new CommitUnknown('lost at the commit')))
  await assert.rejects(world.given(world.place()), CommitUnknown)
  await world.clock.advance(3_700_000)
  assert.deepEqual([world.app.unconfirmed.followed, world.app.resolver.watched], [0, 0])
})

for (const [effect, status] of [
  ['done', 'working'],
  ['refused', 'rejected']
] as const) {
  test(`an outcome (${effect}) that cannot be written is looked up again`, async () => {
    await using world = await bench.world()
    world.broker.streams.down()
    world.broker.plans.submit.push({ effect })
    const placing = world.place()
    failRecords(world, 3, () => Promise.reject(new StoreUnavailable('no room')), 1)
    const order = await world.given(placing)
    assert.deepEqual([order.status, order.submission.state], ['pending', 'submitting'])
    await world.clock.advance(120_000)
    assert.equal((await world.stored(order)).status, status)
    assert.equal(world.broker.sent('submit'), 1)
  })
}

/** Lets `after` writes of orders pass, then handles the next `times` as instructed. */
function failRecords(world: World, times: number, treat: (go: () => Promise<unknown>) => Promise<unknown>, after = 0): void {
  let count = 0
  world.watched.intercept = call => {
    if (call.name !== 'orders.record') return call.go()
    count += 1
    return count > after && count <= after + times ? treat(call.go) : call.go()
  }
}

function isDuplicateOf({ orderId }: Order): (cause: unknown) => boolean {
  return cause =>
    cause instanceof ServiceError && cause.code === 'cl_order_id_duplicate' && cause.message.includes(orderId) && cause.orderId === orderId
}
