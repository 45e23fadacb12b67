// The resolver looks orders up, never repeats a command, and requires proof of an absence.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Order } from '@trunkline/core/domain/order'
import { Bench, type World, type WorldOptions } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

/** A world whose broker answers only look-ups. */
async function quiet(options: WorldOptions = {}): Promise<World> {
  const world = await bench.world(options)
  world.broker.streams.down()
  world.broker.readPlan = kind => (kind === 'findOrder' ? {} : { fault: 'unreachable' })
  return world
}

async function outcomeOf(world: World, order: Order): Promise<string> {
  const { status, submission } = await world.stored(order)
  return `${status} ${submission.state}`
}

/** The times of look-ups, in milliseconds from now. */
function lookUps(world: World, alsoFails: (count: number) => boolean = () => false): readonly number[] {
  const times: number[] = []
  const start = world.clock.monotonicMs()
  world.broker.readPlan = kind => {
    if (kind !== 'findOrder') return { fault: 'unreachable' }
    times.push(world.clock.monotonicMs() - start)
    return alsoFails(times.length) ? { fault: 'unreachable' } : {}
  }
  return times
}

test('an absent order is looked up on schedule, and is proved absent over the whole window', async () => {
  await using world = await quiet()
  world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
  const times = lookUps(world)
  const order = await world.given(world.place())
  await world.clock.advance(61_000)
  assert.equal(await outcomeOf(world, order), 'pending unknown')
  await world.clock.advance(10_000)
  assert.equal(await outcomeOf(world, order), 'rejected not_received')
  assert.deepEqual(times, [500, 1_500, 3_500, 8_500, 18_500, 33_500, 48_500, 63_500])
  assert.match((await world.stored(order)).brokerMessage ?? '', /never received the order/)
})

for (const [deduplication, windowMs] of [
  ['bounded', 120_000],
  ['open_only', 120_000],
  ['label', 300_000]
] as const) {
  test(`at a broker with ${deduplication} ids, proof of absence takes ${windowMs / 1_000} seconds`, async () => {
    await using world = await quiet({ capabilities: { deduplication } })
    world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
    const order = await world.given(world.place())
    await world.clock.advance(windowMs)
    assert.equal(await outcomeOf(world, order), 'pending unknown')
    await world.clock.advance(windowMs / 2)
    assert.equal(await outcomeOf(world, order), 'rejected not_received')
  })
}

test('if ids are labels in a daily list, absence on a later day proves nothing', async () => {
  await using world = await quiet({ capabilities: { deduplication: 'label' } })
  world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
  const order = await world.given(world.place())
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  await world.clock.advance(600_000)
  // Sets the wall clock a day ahead: running a day poll by poll takes long and shows no more.
  world.clock.setWall(24 * 3_600_000)
  const times = lookUps(world)
  await world.clock.advance(3_600_000)
  assert.ok(times.length >= 4, String(times))
  assert.equal(await outcomeOf(world, order), 'pending unknown')
})

test('at a broker without client order ids, an absent order is never ended automatically', async () => {
  await using world = await quiet({ capabilities: { deduplication: 'none' } })
  world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
  const order = await world.given(world.place())
  await world.clock.advance(3_600_000)
  assert.equal(await outcomeOf(world, order), 'pending unknown')
  assert.equal(world.app.resolver.watched, 1)
})

test('failed look-ups are not evidence: the proof of absence waits for the broker, and then for its whole window', async () => {
  await using world = await quiet()
  world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
  const order = await world.given(world.place())
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  await world.clock.advance(1_800_000)
  assert.equal(await outcomeOf(world, order), 'pending unknown')
  const times = lookUps(world)
  await world.clock.until(async () => (await outcomeOf(world, order)) === 'rejected not_received', 'the order is known to be absent')
  // The first clean answer comes with the next infrequent look-up; from then on the proof has its own schedule.
  const [first = 0] = times
  assert.ok(first <= 300_000, String(times))
  assert.deepEqual(
    times.map(time => time - first),
    [0, 15_000, 30_000, 45_000, 60_000]
  )
})

test('single failures within the window neither count nor restart it', async () => {
  await using world = await quiet()
  world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
  const times = lookUps(world, count => count % 2 === 0)
  const order = await world.given(world.place())
  await world.clock.until(async () => (await outcomeOf(world, order)) === 'rejected not_received', 'the order is known to be absent')
  const clean = times.filter((_, index) => index % 2 === 0 && times[index] !== 500)
  assert.ok(clean.length >= 4, String(times))
  assert.ok((clean.at(-1) ?? 0) - (clean[0] ?? 0) >= 60_000, String(times))
})

test('an order that arrives late is found in a later round', async () => {
  await using world = await quiet()
  world.broker.plans.submit.push({ effectAfterMs: 2_500, reply: 'unknown' })
  const order = await world.given(world.place())
  await world.clock.advance(1_600)
  assert.equal(await outcomeOf(world, order), 'pending unknown')
  await world.clock.advance(2_000)
  assert.equal(await outcomeOf(world, order), 'working acknowledged')
  assert.deepEqual([world.broker.sent('submit'), world.app.resolver.watched], [1, 0])
})

test('an order that was replaced elsewhere before it was reported here was working in between', async () => {
  await using world = await quiet()
  world.broker.plans.submit.push({ reply: 'unknown' })
  const order = await world.given(world.place())
  const [taken] = world.ledger.list()
  assert.ok(taken)
  world.ledger.fill(taken.brokerOrderId, '3')
  world.ledger.move(taken.brokerOrderId, 'replaced')
  await world.clock.advance(1_000)
  const events = (await world.events()).flatMap(event =>
    event.topic === 'orders' ? [`${event.data.status} ${event.data.fills.length}`] : []
  )
  assert.deepEqual(events, ['pending 0', 'pending 0', 'partially_filled 1', 'replaced 1'])
  assert.equal(await outcomeOf(world, order), 'replaced acknowledged')
})

test('an order that appears after its absence was reported raises an alarm and is not revived', async () => {
  await using world = await bench.world()
  world.broker.plans.submit.push({ effectAfterMs: 100_000, reply: 'unknown' })
  const order = await world.given(world.place())
  await world.clock.advance(99_000)
  assert.equal(await outcomeOf(world, order), 'rejected not_received')
  await world.clock.advance(70_000)
  const { status, brokerMessage } = await world.stored(order)
  assert.equal(status, 'rejected')
  assert.match(brokerMessage ?? '', /has this order after all/)
  assert.doesNotMatch(brokerMessage ?? '', /safe to place it again/)
  assert.equal(world.counted.get('order_alarms_total SANDBOX late_sighting'), 1)
})

test('a look-up that never ends does not stop other look-ups', async () => {
  await using world = await quiet()
  world.broker.plans.submit.push({ reply: 'unknown' })
  let count = 0
  world.broker.readPlan = kind => {
    if (kind !== 'findOrder') return { fault: 'unreachable' }
    count += 1
    return count <= 2 ? { hangs: 'for_ever' } : {}
  }
  const order = await world.given(world.place())
  await world.clock.advance(20_000)
  assert.equal(await outcomeOf(world, order), 'working acknowledged')
})

test('a cancel of an unknown order waits, and is sent as soon as the order appears', async () => {
  await using world = await bench.world()
  world.broker.readPlan = kind => (kind === 'findOrder' ? { fault: 'unreachable' } : {})
  await world.live()
  world.broker.plans.submit.push({ effectAfterMs: 9_000, reply: 'unknown' })
  const order = await world.given(world.place())
  const requested = await world.given(world.cancel(order))
  assert.deepEqual([requested.status, requested.pendingRequest?.kind, requested.pendingRequest?.sentAt], ['pending', 'cancel', null])
  await world.clock.advance(8_900)
  assert.equal(world.broker.sent('cancel'), 0)
  world.broker.readPlan = () => ({})
  await world.clock.advance(200)
  // By the stream; the next look-up is seconds away.
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['cancelled', 1])
})

test('a cancel that waits for a late reply is sent when the reply arrives', async () => {
  await using world = await quiet()
  world.broker.plans.submit.push({ replyAfterMs: 16_000 })
  const order = await world.given(world.place())
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  await world.given(world.cancel(order))
  await world.clock.advance(10_900)
  assert.equal(world.broker.sent('cancel'), 0)
  world.broker.readPlan = kind => (kind === 'findOrder' ? {} : { fault: 'unreachable' })
  await world.clock.advance(200)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['cancelled', 1])
})

test('a cancel request ends when its order is proved absent', async () => {
  await using world = await quiet()
  world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
  const order = await world.given(world.place())
  await world.given(world.cancel(order))
  await world.clock.advance(70_000)
  assert.equal(await outcomeOf(world, order), 'rejected not_received')
  assert.deepEqual([(await world.stored(order)).pendingRequest, world.broker.sent('cancel')], [null, 0])
})

test('an order that the broker acknowledged but does not work yet can be cancelled', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.plans.submit.push({ status: 'pending' })
  const order = await world.given(world.place())
  assert.equal(await outcomeOf(world, order), 'pending acknowledged')
  await world.given(world.cancel(order))
  await world.clock.advance(1_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['cancelled', 1])
})

test('a cancel whose answer is lost is sent at most three more times, and then the order is live again', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  world.broker.plan = kind => (kind === 'cancel' ? { effect: 'none', reply: 'unknown' } : {})
  const pending = await world.given(world.cancel(order))
  assert.equal(pending.status, 'pending_cancel')
  await world.clock.advance(300_000)
  const released = await world.stored(order)
  assert.deepEqual([released.status, released.pendingRequest, world.broker.sent('cancel')], ['working', null, 4])
  assert.match(released.brokerMessage ?? '', /did not cancel/)
  assert.equal(world.app.resolver.watched, 0)
  // Requested again, it is sent again.
  world.broker.heal()
  assert.equal((await world.given(world.cancel(order))).status, 'cancelled')
})

test('a cancel that is requested repeatedly is not sent more often', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  world.broker.plan = kind => (kind === 'cancel' ? { effect: 'none', reply: 'unknown' } : {})
  for (let count = 0; count < 20; count += 1) {
    assert.equal((await world.given(world.cancel(order))).status, 'pending_cancel')
    await world.clock.advance(400)
  }
  assert.equal(world.broker.sent('cancel'), 4)
})

test('a lost cancel is looked up at once, however long its order was unresolved before', async () => {
  await using world = await bench.world()
  world.broker.streams.down()
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  world.broker.plans.submit.push({ reply: 'unknown' })
  const order = await world.given(world.place())
  await world.clock.advance(1_500_000)
  world.broker.heal()
  await world.live()
  assert.equal(await outcomeOf(world, order), 'working acknowledged')
  world.broker.plans.cancel.push({ effect: 'none', reply: 'unknown' })
  assert.equal((await world.given(world.cancel(order))).status, 'pending_cancel')
  await world.clock.advance(600)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['cancelled', 2])
})

test('a cancel that is pending at the broker is not sent again', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  world.broker.plans.cancel.push({ status: 'pending_cancel' })
  assert.equal((await world.given(world.cancel(order))).status, 'pending_cancel')
  await world.clock.advance(600_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['pending_cancel', 1])
  const [taken] = world.ledger.list()
  assert.ok(taken)
  world.ledger.move(taken.brokerOrderId, 'cancelled')
  await world.clock.advance(1_000)
  assert.equal((await world.stored(order)).status, 'cancelled')
})

test('a cancel that lost the race to a fill ends as filled', async () => {
  await using world = await bench.world()
  world.broker.streams.down()
  const order = await world.given(world.place())
  const [taken] = world.ledger.list()
  assert.ok(taken)
  world.ledger.fill(taken.brokerOrderId, '10')
  const answer = await world.given(world.cancel(order))
  assert.deepEqual([answer.status, answer.fills.length, answer.pendingRequest], ['filled', 1, null])
})

test('a refused cancel leaves a live order live, with the broker’s message', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  world.broker.plans.cancel.push({ effect: 'refused', message: 'Too late to cancel.' })
  const answer = await world.given(world.cancel(order))
  assert.deepEqual([answer.status, answer.pendingRequest, answer.brokerMessage], ['working', null, 'Too late to cancel.'])
})

test('two cancels at once are one at the broker, and both get its result', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  world.broker.plans.cancel.push({ replyAfterMs: 500, status: 'pending_cancel' })
  const both = await world.given(Promise.all([world.cancel(order), world.cancel(order)]))
  assert.deepEqual([both.map(({ status }) => status), world.broker.sent('cancel')], [['pending_cancel', 'pending_cancel'], 1])
})

test('an intent stored before a crash is resumed at the next start: looked up, or cancelled as requested', async () => {
  await using world = await quiet()
  world.broker.plans.submit.push({ reply: 'never' }, { reply: 'never', effect: 'none' })
  const there = await world.given(world.place())
  const absent = await world.given(world.place())
  await world.restart()
  assert.equal(await outcomeOf(world, there), 'pending unknown')
  await world.clock.advance(1_000)
  assert.equal(await outcomeOf(world, there), 'working acknowledged')
  await world.clock.advance(70_000)
  assert.equal(await outcomeOf(world, absent), 'rejected not_received')

  world.broker.plans.cancel.push({ effect: 'none', reply: 'never' })
  await world.given(world.cancel(there))
  await world.restart()
  await world.clock.advance(1_000)
  assert.equal(await outcomeOf(world, there), 'cancelled acknowledged')
  assert.equal(world.broker.sent('submit'), 2)
})

for (const [filled, end] of [
  [null, 'rejected'],
  ['4', 'cancelled']
] as const)
  test(`an order that the broker rejects while its cancel is pending is ${end} (filled ${filled ?? 'nothing'})`, async () => {
    await using world = await bench.world()
    await world.live()
    const order = await world.given(world.place())
    if (filled !== null) world.ledger.fill('o-1', filled)
    await world.clock.advance(1_000)
    world.broker.plans.cancel.push({ effect: 'none', reply: 'unknown' })
    await world.given(world.cancel(order))
    assert.equal((await world.stored(order)).status, 'pending_cancel')
    world.ledger.move('o-1', 'rejected')
    await world.clock.until(async () => (await world.stored(order)).status === end, `it is ${end}`, 10_000)
    assert.equal((await world.stored(order)).pendingRequest, null)
    await world.clock.until(() => world.app.resolver.watched === 0, 'nobody looks for it any more', 60_000)
  })
