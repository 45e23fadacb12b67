// A cancel that the broker accepted: only the broker's word ends it, and one that was accepted too early is sent again.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { Bench } from './bench.ts'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

test('a cancel that came too early for the broker is sent again once the order works', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.plans.submit.push({ status: 'pending' })
  for (let count = 0; count < 4; count += 1) world.broker.plans.cancel.push({ effect: 'none', reply: 'unknown' })
  const order = await world.given(world.place())
  await world.given(world.cancel(order))
  await world.clock.advance(120_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['pending_cancel', 4])
  const [taken] = world.book.list()
  assert.ok(taken)
  world.book.move(taken.brokerOrderId, 'working')
  await world.clock.advance(1_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['cancelled', 5])
})

test('a cancel that the broker accepted before the order was live, and forgot, is sent again once the order works', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.plans.submit.push({ status: 'pending' })
  world.broker.plans.cancel.push({ effect: 'done', status: 'pending', replyAfterMs: 10 })
  const order = await world.given(world.place())
  await world.given(world.cancel(order))
  await world.clock.advance(120_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['pending_cancel', 1])
  const [accepted] = world.book.list()
  assert.ok(accepted)
  world.book.move(accepted.brokerOrderId, 'working')
  await world.clock.advance(1_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['cancelled', 2])
})

test('a cancel that the broker took stays pending while the broker is slow, however often older or newer looks show the order working', async () => {
  await using world = await bench.world()
  await world.live()
  const order = await world.given(world.place())
  // It takes the request, says nothing more, and goes on showing the order as it was.
  world.broker.plans.cancel.push({ effect: 'done', status: 'working', replyAfterMs: 10 })
  await world.given(world.cancel(order))
  for (let minute = 0; minute < 4; minute += 1) {
    await world.clock.advance(60_000)
    assert.equal((await world.stored(order)).status, 'pending_cancel')
  }
  assert.equal(world.broker.sent('cancel'), 1, 'what was taken is not sent again')
  assert.ok(order.brokerOrderId)
  world.book.move(order.brokerOrderId, 'cancelled')
  await world.clock.advance(1_000)
  assert.equal((await world.stored(order)).status, 'cancelled')
})

test('one that the broker took and does nothing about for five minutes is let go, with a look asked for after that', async () => {
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

test('that the broker took a cancel is known after a restart: it stays pending, is not sent again, and the five minutes begin again', async () => {
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

test('a cancel whose taking could not be stored is known as taken by the process that sent it', async () => {
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

test('a second cancel is no new one, and one after the first has ended is, even where the clock stands still', async () => {
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

test('an order that the broker acknowledged and does not work yet is pending_cancel from its cancel on, over a restart too, whatever looks show', async () => {
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
  const [taken] = world.book.list()
  assert.ok(taken)
  world.book.move(taken.brokerOrderId, 'cancelled')
  await world.clock.advance(30_000)
  assert.equal((await world.stored(order)).status, 'cancelled')
  const told = (await world.events()).flatMap(event => (event.topic === 'orders' ? [event.data.status] : []))
  assert.deepEqual([...new Set(told)], ['pending', 'working', 'pending_cancel', 'cancelled'], 'along the arrows')
})

test('a cancel of an order nobody knew of shows as pending_cancel once the broker has acknowledged the order', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.plans.submit.push({ effectAfterMs: 9_000, reply: 'unknown', status: 'pending' })
  world.broker.plans.cancel.push({ effect: 'done', status: 'pending', replyAfterMs: 10 })
  const order = await world.given(world.place())
  assert.equal((await world.given(world.cancel(order))).status, 'pending')
  await world.clock.advance(20_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['pending_cancel', 1])
})
