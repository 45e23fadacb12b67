// Brokers that neither echo client order ids nor look them up: an order with a lost answer is identified by its terms and time.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Order } from '@trunkline/core/domain/order'
import { Bench, type World } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const untagged = () => bench.world({ capabilities: { deduplication: 'none' } })

/** Every record of the account: `state status`, ours first, in the order of their placement. */
async function records(world: World): Promise<readonly string[]> {
  return (await world.orders()).map(({ submission, status }) => `${submission.state} ${status}`)
}

/** Waits until nothing is being looked up. */
async function settled(world: World): Promise<void> {
  await world.clock.until(() => world.app.resolver.watched === 0, 'every order is resolved', 120_000)
}

test('a lost answer: the order is found in the next snapshot, and is not shown twice', async () => {
  await using world = await untagged()
  await world.live()
  world.broker.plans.submit.push({ reply: 'unknown' })
  const placed = await world.given(world.place())
  await settled(world)
  const order = await world.stored(placed)
  assert.deepEqual([order.submission.state, order.status, order.brokerOrderId], ['acknowledged', 'working', 'o-1'])
  assert.deepEqual(await records(world), ['acknowledged working'])
  assert.equal(world.broker.sent('submit'), 1)
})

test('the stream is faster than the answer: its report is applied to the order, and to no other', async () => {
  await using world = await untagged()
  await world.live()
  world.broker.plans.submit.push({ replyAfterMs: 3_000 })
  const placing = world.place()
  await world.clock.until(() => world.broker.sent('submit') === 1, 'the order is sent')
  world.ledger.fill('o-1', '4')
  const order = await world.given(placing)
  await world.clock.until(async () => (await world.stored(order)).fills.length === 1, 'the fill is known')
  assert.deepEqual(await records(world), ['acknowledged partially_filled'])
})

test('orders placed elsewhere are adopted, even while others are unresolved', async () => {
  await using world = await untagged()
  await world.live()
  world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
  const lost = await world.given(world.place({ limitPrice: '9.00' }))
  const ticket = (await world.stored(lost)) as Order
  world.ledger.addOutside({ ...ticket, limitPrice: '8.00' as never }, world.account.brokerAccountId)
  await world.clock.until(async () => (await world.orders()).length === 2, 'the other order is adopted')
  assert.deepEqual(await records(world), ['unknown pending', 'external working'])
})

test('two orders with the same terms, both answers lost: each is matched to one of the broker’s', async () => {
  await using world = await untagged()
  await world.live()
  world.broker.plans.submit.push({ reply: 'unknown' }, { reply: 'unknown' })
  const both = [world.place(), world.place()]
  await world.given(Promise.all(both))
  await settled(world)
  const orders = await world.orders()
  assert.deepEqual(orders.map(({ brokerOrderId }) => brokerOrderId).sort(), ['o-1', 'o-2'])
  assert.deepEqual(await records(world), ['acknowledged working', 'acknowledged working'])
})

test('many answers lost at once share the snapshots of the account', async () => {
  await using world = await untagged()
  await world.live()
  const requests = Array.from({ length: 12 }, (_, index) => ({ limitPrice: `${index + 1}.00` }))
  for (const [index] of requests.entries()) world.broker.plans.submit.push({ effect: index % 2 === 0 ? 'done' : 'none', reply: 'unknown' })
  let snapshots = 0
  world.broker.readPlan = kind => {
    if (kind === 'orders') snapshots += 1
    return { afterMs: 200 }
  }
  await world.given(Promise.all(requests.map(request => world.place(request))))
  await world.clock.advance(10_000)
  assert.equal((await records(world)).filter(record => record === 'acknowledged working').length, 6)
  assert.ok(snapshots <= 12, `${snapshots} snapshots in ten seconds`)
})

test('two orders with the same terms, one never arrived: one is matched, the other stays unresolved and is never sent again', async () => {
  await using world = await untagged()
  await world.live()
  world.broker.plans.submit.push({ reply: 'unknown' }, { effect: 'none', reply: 'unknown' })
  await world.given(Promise.all([world.place(), world.place()]))
  await world.clock.advance(900_000)
  assert.deepEqual((await records(world)).toSorted(), ['acknowledged working', 'unknown pending'])
  assert.equal(world.broker.sent('submit'), 2)
})

test('one lost order and two similar ones at the broker: an alarm is raised, and every order of the broker is shown', async () => {
  await using world = await untagged()
  await world.live()
  world.broker.plans.submit.push({ reply: 'unknown', effectAfterMs: 200 })
  const placing = world.place()
  await world.clock.until(() => world.broker.sent('submit') === 1, 'the order is sent')
  const [placed] = await world.orders()
  assert.ok(placed !== undefined)
  world.ledger.addOutside(placed, world.account.brokerAccountId)
  await world.given(placing)
  await world.clock.until(async () => (await world.orders()).length === 3, 'both are shown', 120_000)
  assert.deepEqual((await records(world)).toSorted(), ['external working', 'external working', 'unknown pending'])
  assert.ok((world.counted.get('order_alarms_total SANDBOX ambiguous') ?? 0) > 0)
})

test('an order placed at another time is not matched', async () => {
  await using world = await untagged()
  await world.live()
  const ticket = await world.given(world.place())
  await world.given(world.cancel(ticket))
  world.ledger.addOutside(ticket, world.account.brokerAccountId)
  await world.clock.until(async () => (await world.orders()).length === 2, 'the other order is adopted')
  await world.clock.advance(60_000)
  world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
  await world.given(world.place())
  await world.clock.advance(120_000)
  assert.deepEqual((await records(world)).toSorted(), ['acknowledged cancelled', 'external working', 'unknown pending'])
})

test('the service ends between sending and the answer: the next start finds the order', async () => {
  await using world = await untagged()
  await world.live()
  world.broker.plans.submit.push({ reply: 'never' })
  const placed = await world.given(world.place())
  await world.restart()
  await settled(world)
  assert.deepEqual([(await world.stored(placed)).brokerOrderId, ...(await records(world))], ['o-1', 'acknowledged working'])
})

test('a cancel that waits for the broker’s answer is sent once the order is found', async () => {
  await using world = await untagged()
  await world.live()
  world.broker.plans.submit.push({ reply: 'unknown' })
  const placed = await world.given(world.place())
  await world.given(world.cancel(placed))
  await world.clock.until(async () => (await world.stored(placed)).status === 'cancelled', 'the order is cancelled', 120_000)
  assert.equal(world.broker.sent('cancel'), 1)
})
