// Replacements: two orders, one of which is live, whatever reports come in whatever order.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { Order } from '@trunkline/core/domain/order'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { Bench, type World } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

/** `old status, successor status, successor's submission`. */
async function outcomesOf(world: World, old: Order): Promise<string> {
  const [before, after] = [await world.stored(old), (await world.orders()).find(({ replacesOrderId }) => replacesOrderId === old.orderId)]
  return `${before.status}, ${after?.status} ${after?.submission.state}`
}

/** A working order whose stream and lists are silent: only look-ups and replies report. */
async function working(): Promise<{ readonly world: World; readonly old: Order; readonly id: string }> {
  const world = await bench.world()
  world.broker.streams.down()
  const old = await world.given(world.place())
  world.broker.readPlan = kind => (kind === 'findOrder' ? {} : { fault: 'unreachable' })
  return { world, old, id: old.brokerOrderId ?? '' }
}

test('accepted: the new order works, and the old one is replaced by it', async () => {
  const { world, old } = await working()
  await using _ = world
  const successor = await world.given(world.modify(old, { clOrdId: 'm-1', quantity: '20' }))
  assert.deepEqual([successor.status, successor.quantity, successor.replacesOrderId], ['working', '20', old.orderId])
  const replaced = await world.stored(old)
  assert.deepEqual([replaced.status, replaced.replacedByOrderId, replaced.pendingRequest], ['replaced', successor.orderId, null])
  assert.equal(world.app.resolver.watched, 0)
})

test('refused: the new order is rejected, and the old one works on with the broker’s message', async () => {
  const { world, old } = await working()
  await using _ = world
  world.broker.plans.replace.push({ effect: 'refused', message: 'Not now.' })
  const successor = await world.given(world.modify(old, { clOrdId: 'm-1', quantity: '20' }))
  assert.deepEqual([successor.status, successor.submission.state, successor.brokerMessage], ['rejected', 'refused', 'Not now.'])
  assert.deepEqual([successor.rejectCode, (await world.stored(old)).rejectCode], ['other', null])
  assert.deepEqual([(await world.stored(old)).status, (await world.stored(old)).brokerMessage], ['working', 'Not now.'])
})

test('not sent: the old order works on', async () => {
  const { world, old } = await working()
  await using _ = world
  world.broker.plans.replace.push({ reply: 'not_sent' })
  await world.given(world.modify(old, { clOrdId: 'm-1', quantity: '20' }))
  assert.equal(await outcomesOf(world, old), 'working, rejected not_sent')
})

for (const [effect, outcome, withinMs] of [
  ['done', 'replaced, working acknowledged', 1_100],
  ['none', 'working, rejected not_received', 80_000]
] as const) {
  test(`unknown, and ${effect === 'done' ? 'carried out' : 'never received'}: found by look-ups, never sent again`, async () => {
    const { world, old } = await working()
    await using _ = world
    world.broker.plans.replace.push({ effect, reply: 'unknown' })
    const successor = await world.given(world.modify(old, { clOrdId: 'm-1', quantity: '20' }))
    assert.deepEqual([successor.status, successor.submission.state], ['pending', 'unknown'])
    await world.clock.advance(withinMs)
    assert.equal(await outcomesOf(world, old), outcome)
    assert.deepEqual([world.broker.sent('replace'), world.app.resolver.watched], [1, 0])
  })
}

for (const [how, status] of [
  ['fills', 'filled'],
  ['is cancelled', 'cancelled']
] as const) {
  test(`the old order ${how} while the replacement is in transit, which is then refused`, async () => {
    await using world = await bench.world()
    await world.live()
    const old = await world.given(world.place())
    world.broker.plans.replace.push({ effectAfterMs: 500 })
    const modifying = world.modify(old, { clOrdId: 'm-1', quantity: '20' })
    await world.clock.advance(100)
    if (status === 'filled') world.ledger.fill(old.brokerOrderId ?? '', '10')
    else world.ledger.move(old.brokerOrderId ?? '', 'cancelled')
    await world.given(modifying)
    assert.equal(await outcomesOf(world, old), `${status}, rejected refused`)
    assert.equal((await world.stored(old)).pendingRequest, null)
  })

  test(`the old order ${how} while the outcome of the replacement is unknown, which was never created`, async () => {
    const { world, old, id } = await working()
    await using _ = world
    world.broker.plans.replace.push({ effect: 'none', reply: 'unknown' })
    await world.given(world.modify(old, { clOrdId: 'm-1', quantity: '20' }))
    if (status === 'filled') world.ledger.fill(id, '10')
    else world.ledger.move(id, 'cancelled')
    await world.clock.advance(80_000)
    assert.equal(await outcomesOf(world, old), `${status}, rejected not_received`)
    assert.equal(world.app.resolver.watched, 0)
  })
}

test('the old order keeps its fills; the new one ends when the broker reports its end', async () => {
  await using world = await bench.world()
  await world.live()
  const old = await world.given(world.place())
  world.ledger.fill(old.brokerOrderId ?? '', '4')
  await world.clock.settled()
  const successor = await world.given(world.modify(old, { clOrdId: 'm-1', quantity: '12' }))
  world.ledger.fill(successor.brokerOrderId ?? '', '8')
  await world.clock.settled()
  const [before, after] = [await world.stored(old), await world.stored(successor)]
  assert.deepEqual([before.status, before.fills.length, after.status, after.fills.length], ['replaced', 1, 'filled', 1])
  assert.deepEqual([before.previouslyFilledQuantity, after.previouslyFilledQuantity], [null, '4'])
})

test('fills of the old order during its replacement, and those reported late, count towards the new one’s total', async () => {
  await using world = await bench.world()
  await world.live()
  const old = await world.given(world.place())
  world.broker.plans.replace.push({ effectAfterMs: 500 })
  const modifying = world.modify(old, { clOrdId: 'm-1', quantity: '12' })
  await world.clock.until(() => world.broker.sent('replace') === 1, 'the change is sent')
  world.ledger.fill(old.brokerOrderId ?? '', '3')
  const second = await world.given(modifying)
  assert.equal((await world.stored(second)).previouslyFilledQuantity, '3')
  const third = await world.given(world.modify(second, { clOrdId: 'm-2', quantity: '14' }))
  world.ledger.fill(old.brokerOrderId ?? '', '2')
  await world.clock.settled()
  const [one, two] = [await world.stored(second), await world.stored(third)]
  assert.deepEqual([one.previouslyFilledQuantity, two.previouslyFilledQuantity], ['5', '5'])
})

test('a total that is already filled cannot be requested', async () => {
  await using world = await bench.world()
  await world.live()
  const old = await world.given(world.place())
  world.ledger.fill(old.brokerOrderId ?? '', '4')
  await world.clock.settled()
  await assert.rejects(world.given(world.modify(old, { clOrdId: 'm-1', quantity: '4' })), isCode('field_invalid'))
  assert.equal(world.broker.sent('replace'), 0)
})

test('a replacement with a used cl_order_id changes nothing', async () => {
  const { world, old } = await working()
  await using _ = world
  await assert.rejects(world.given(world.modify(old, { clOrdId: old.clOrdId, quantity: '20' })), isCode('cl_order_id_duplicate'))
  assert.deepEqual([(await world.stored(old)).status, world.broker.sent('replace')], ['working', 0])
})

test('an order with a pending replacement is not replaced again', async () => {
  const { world, old } = await working()
  await using _ = world
  world.broker.plans.replace.push({ replyAfterMs: 60_000, effectAfterMs: 1 })
  await world.given(world.modify(old, { clOrdId: 'm-1', quantity: '20' }))
  await assert.rejects(world.given(world.modify(old, { clOrdId: 'm-2', quantity: '30' })), isCode('order_not_open'))
  assert.equal(world.broker.sent('replace'), 1)
})

test('a crash between the intent and the send: both orders are looked up, and end together', async () => {
  const { world, old } = await working()
  await using _ = world
  world.broker.plans.replace.push({ effect: 'none', reply: 'never' })
  await world.given(world.modify(old, { clOrdId: 'm-1', quantity: '20' }))
  await world.restart()
  await world.clock.advance(80_000)
  assert.equal(await outcomesOf(world, old), 'working, rejected not_received')
  assert.equal(world.app.resolver.watched, 0)
})

for (const [title, effect, pass, outcome] of [
  ['the new order is known, the old one not yet replaced', 'done', 1, 'replaced, working acknowledged'],
  ['the new order is rejected, the old one not yet released', 'refused', 1, 'working, rejected refused']
] as const) {
  test(`a crash between the two writes of an outcome: ${title}`, async () => {
    const { world, old } = await working()
    await using _ = world
    world.broker.plans.replace.push({ effect, replyAfterMs: 10 })
    const modifying = world.modify(old, { clOrdId: 'm-1', quantity: '20' })
    let count = 0
    world.watched.intercept = call => {
      if (call.name === 'orders.record') count += 1
      return call.name === 'orders.record' && count > 1 + pass ? Promise.reject(new StoreUnavailable('gone')) : call.go()
    }
    await world.given(modifying)
    assert.match(await outcomesOf(world, old), /^pending_replace, /)
    world.watched.intercept = null
    await world.restart()
    await world.clock.advance(1_100)
    assert.equal(await outcomesOf(world, old), outcome)
    await world.clock.advance(60_000)
    assert.deepEqual([await outcomesOf(world, old), world.broker.sent('replace'), world.app.resolver.watched], [outcome, 1, 0])
  })
}

test('an outcome that could not be written leaves no unanswered successor, even if the old order ends by itself', async () => {
  await using world = await bench.world()
  await world.live()
  const old = await world.given(world.place())
  world.broker.plans.replace.push({ effect: 'refused', replyAfterMs: 10 })
  const modifying = world.modify(old, { clOrdId: 'm-1', quantity: '20' })
  let count = 0
  world.watched.intercept = call => {
    if (call.name === 'orders.record') count += 1
    return call.name === 'orders.record' && count === 2 ? Promise.reject(new StoreUnavailable('gone')) : call.go()
  }
  await world.given(modifying)
  world.ledger.fill(old.brokerOrderId ?? '', '10')
  await world.clock.advance(80_000)
  assert.equal(await outcomesOf(world, old), 'filled, rejected not_received')
})

test('the outcome of one replacement does not affect the next', async () => {
  const { world, old, id } = await working()
  await using _ = world
  world.broker.plans.replace.push({ effect: 'none', reply: 'unknown' })
  await world.given(world.modify(old, { clOrdId: 'm-1', quantity: '20' }))
  await world.clock.advance(50_000)
  // The broker reports that it did not carry out the request; the order is free for another.
  await world.given(world.app.orderReports.applyReport(old.orderId, { ...world.ledger.get(id), releases: true }, 'stream'))
  assert.equal((await world.stored(old)).status, 'working')
  world.broker.plans.replace.push({ effectAfterMs: 40_000, reply: 'unknown' })
  const second = await world.given(world.modify(old, { clOrdId: 'm-2', quantity: '30' }))
  await world.clock.advance(30_000)
  // The absence of the first one is proved by now, that of the second is not.
  assert.deepEqual([(await world.stored(old)).status, (await world.stored(second)).status], ['pending_replace', 'pending'])
  await world.clock.advance(30_000)
  assert.deepEqual([(await world.stored(old)).status, (await world.stored(second)).status], ['replaced', 'working'])
})

function isCode(code: ServiceError['code']): (cause: unknown) => boolean {
  return cause => cause instanceof ServiceError && cause.code === code
}

test('an acknowledged order that does not work yet can be replaced at the broker; an unacknowledged one is refused as such', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.plans.submit.push({ status: 'pending' })
  const old = await world.given(world.place())
  assert.deepEqual([old.status, old.submission.state], ['pending', 'acknowledged'])
  assert.equal((await world.given(world.modify(old, { clOrdId: 'm-1', quantity: '20' }))).status, 'working')
  assert.equal(await outcomesOf(world, old), 'replaced, working acknowledged')
  world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
  const lost = await world.given(world.place({ clOrdId: 'lost' }))
  await assert.rejects(
    world.given(world.modify(lost, { clOrdId: 'm-2', quantity: '20' })),
    (cause: unknown) =>
      cause instanceof ServiceError &&
      cause.code === 'order_not_open' &&
      /has not acknowledged it; wait until its submission.state/.test(cause.message)
  )
})

test('a repeated modification names the order that has its id, whatever happened to the first', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  const change = { clOrdId: 'once', limitPrice: '11.00' }
  const names = (orderId: string) => (cause: unknown) =>
    cause instanceof ServiceError && cause.code === 'cl_order_id_duplicate' && cause.orderId === orderId
  world.broker.plans.replace.push({ effectAfterMs: 2_000 })
  const first = world.modify(order, change)
  await world.clock.advance(500)
  const [underWay] = (await world.orders()).filter(({ clOrdId }) => clOrdId === 'once')
  assert.ok(underWay)
  await assert.rejects(world.given(world.modify(order, change)), names(underWay.orderId))
  const successor = await world.given(first)
  assert.equal((await world.stored(order)).status, 'replaced')
  await assert.rejects(world.given(world.modify(order, change)), names(successor.orderId))
  world.clock.setWall(86_400_000)
  await world.clock.advance(60_000)
  await assert.rejects(world.given(world.modify(order, change)), names(successor.orderId), 'on the next trading day')
  await assert.rejects(
    world.given(world.modify(order, { ...change, clOrdId: 'another' })),
    (cause: unknown) => cause instanceof ServiceError && cause.code === 'order_not_open'
  )
  assert.equal(world.broker.sent('replace'), 1)
})

for (const kind of [{}, { replacedQuantity: 'rest' }, { replacedOrderId: 'same', deduplication: 'label' }] as const)
  test(`a modification to a total that the chain has filled already is refused, and nothing is sent (${JSON.stringify(kind)})`, async () => {
    await using world = await bench.world({ capabilities: kind })
    await world.live()
    const old = await world.given(world.place({ quantity: '100' }))
    assert.ok(old.brokerOrderId)
    world.ledger.fill(old.brokerOrderId, '40')
    await world.clock.until(async () => (await world.stored(old)).fills.length === 1, 'the execution is known')
    const second = await world.given(world.modify(old, { clOrdId: 'second', limitPrice: '11.00' }))
    for (const quantity of ['40', '30'])
      await assert.rejects(
        world.given(world.modify(second, { clOrdId: `of-${quantity}`, quantity })),
        (cause: unknown) => isCode('field_invalid')(cause) && cause instanceof Error && /more than the 40 filled/.test(cause.message)
      )
    assert.equal(world.broker.sent('replace'), 1)
    await world.given(world.modify(second, { clOrdId: 'of-50', quantity: '50' }))
    assert.equal(world.broker.sent('replace'), 2)
  })

test('changes that the broker does not support are refused before anything is recorded; another notation of a number is not a change', async () => {
  await using world = await bench.world({ capabilities: { replaceFields: { STK: ['order_limit_price'] } } })
  const old = await world.given(world.place({ quantity: '10' }))
  await assert.rejects(
    world.given(world.modify(old, { clOrdId: 'm-1', quantity: '11' })),
    (cause: unknown) =>
      cause instanceof ServiceError &&
      cause.code === 'order_not_supported' &&
      /order_qty cannot be changed from 10 to 11: for STK, .* can change order_limit_price/.test(cause.message)
  )
  assert.deepEqual([(await world.orders()).length, (await world.stored(old)).status, world.broker.sent('replace')], [1, 'working', 0])
  const successor = await world.given(world.modify(old, { clOrdId: 'm-2', quantity: '10.00000000', limitPrice: '10.25' }))
  assert.deepEqual([successor.status, successor.quantity, successor.limitPrice], ['working', '10', '10.25'])
})
