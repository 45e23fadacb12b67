// A second request while the broker's answer to the first, which has ended, is still in transit.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Order } from '@trunkline/core/domain/order'
import { Bench, type World } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

/** A first request that the broker refuses, with an answer slower than its stream, and the order after that. */
async function released(world: World, kind: 'cancel' | 'replace'): Promise<Order> {
  await world.live()
  const order = await world.given(world.place())
  assert.ok(order.brokerOrderId)
  world.broker.plans[kind].push({ effect: 'refused', message: 'Too early.', replyAfterMs: 60_000 })
  await world.given(kind === 'cancel' ? world.cancel(order) : world.modify(order, { clOrdId: 'm-1', limitPrice: '11.00' }))
  world.broker.streams.publish({ ...world.ledger.get(order.brokerOrderId), releases: true })
  await world.clock.until(async () => (await world.stored(order)).status === 'working', 'the stream releases the order')
  return order
}

test('a second cancel that is sent while the refusal of the first is in transit is not ended by that refusal', async () => {
  await using world = await bench.world({ timing: { commandMs: 90_000 } })
  const order = await released(world, 'cancel')
  world.broker.plans.cancel.push({ effect: 'done', status: 'working', replyAfterMs: 10 })
  const second = await world.given(world.cancel(order))
  assert.deepEqual([second.status, world.broker.sent('cancel')], ['pending_cancel', 2])
  await world.clock.advance(70_000)
  assert.deepEqual([(await world.stored(order)).status, (await world.stored(order)).brokerMessage], ['pending_cancel', null])
  world.ledger.move(order.brokerOrderId ?? '', 'cancelled')
  await world.clock.until(async () => (await world.stored(order)).status === 'cancelled', 'the order is cancelled')
  assert.equal(world.broker.sent('cancel'), 2)
})

test('the refusal of an ended cancel does not end a later replacement', async () => {
  await using world = await bench.world({ timing: { commandMs: 90_000 } })
  const order = await released(world, 'cancel')
  world.broker.plans.replace.push({ effect: 'taken' })
  const successor = await world.given(world.modify(order, { clOrdId: 'm-1', limitPrice: '11.00' }))
  await world.clock.advance(70_000)
  assert.deepEqual([(await world.stored(order)).status, (await world.stored(successor)).status], ['pending_replace', 'pending'])
})

test('a second replacement can be sent while the refusal of the first is in transit, and each ends with its own answer', async () => {
  await using world = await bench.world({ timing: { commandMs: 90_000 } })
  const order = await released(world, 'replace')
  const second = await world.given(world.modify(order, { clOrdId: 'm-2', limitPrice: '12.00' }))
  assert.deepEqual([second.status, world.broker.sent('replace')], ['working', 2])
  await world.clock.advance(70_000)
  const ends = (await world.orders()).map(({ clOrdId, status }) => `${clOrdId} ${status}`)
  assert.deepEqual(ends, ['c-1 replaced', 'm-1 rejected', 'm-2 working'])
})
