// A cancel that the broker accepted: only the broker's word ends it, and one that was accepted too early is sent again.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
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
  for (let count = 0; count < 3; count += 1) world.broker.plans.cancel.push({ effect: 'none', reply: 'unknown' })
  const order = await world.given(world.place())
  await world.given(world.cancel(order))
  await world.clock.advance(120_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['pending', 3])
  const [taken] = world.book.list()
  assert.ok(taken)
  world.book.move(taken.brokerOrderId, 'working')
  await world.clock.advance(1_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['cancelled', 4])
})

test('a cancel that the broker accepted before the order was live, and forgot, is sent again once the order works', async () => {
  await using world = await bench.world()
  await world.live()
  world.broker.plans.submit.push({ status: 'pending' })
  world.broker.plans.cancel.push({ effect: 'done', status: 'pending', replyAfterMs: 10 })
  const order = await world.given(world.place())
  await world.given(world.cancel(order))
  await world.clock.advance(120_000)
  assert.deepEqual([(await world.stored(order)).status, world.broker.sent('cancel')], ['pending', 1])
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
