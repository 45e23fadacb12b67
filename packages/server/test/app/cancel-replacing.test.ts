// A cancel that meets a pending replacement: whichever of the two orders was named, the one that lives is stopped.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { cancelOrders } from '@trunkline/core/app/orders/cancel-orders'
import type { CommandPlan } from '@trunkline/testkit/scripted-broker/index'
import { Bench, type World } from './bench.ts'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

/** An order, and its replacement that has no end yet. */
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

/** As at brokers that take no cancel while they work on a replacement. */
function refusesFirst(world: World, count: number): void {
  for (let sent = 0; sent < count; sent += 1) world.broker.plans.cancel.push({ effect: 'refused', message: 'The order is being replaced.' })
}

const NOTHING: readonly { readonly name: string; readonly plan: CommandPlan }[] = [
  { name: 'the broker refuses it late', plan: { effect: 'refused', message: 'No.', replyAfterMs: 9_000 } },
  { name: 'the broker took it and does not make it', plan: { effect: 'taken' } },
  { name: 'it never reached the broker', plan: { effect: 'none', reply: 'unknown' } }
]

for (const { name, plan } of NOTHING)
  for (const kind of [{}, { replacedOrderId: 'kept', deduplication: 'label' }] as const)
    for (const named of ['old', 'successor'] as const)
      test(`a cancel of the ${named} order stops the old one where the replacement comes to nothing: ${name} (${kind.replacedOrderId ?? 'new'} id)`, async () => {
        await using world = await bench.world({ capabilities: kind })
        const both = await replacing(world, plan)
        refusesFirst(world, 4)
        await world.given(world.cancel(both[named]))
        await world.clock.until(async () => (await statuses(world)) === 'c-1 cancelled, m-1 rejected', 'the old order is cancelled')
      })

for (const kind of [{}, { replacedOrderId: 'kept', deduplication: 'label' }] as const)
  for (const named of ['old', 'successor'] as const)
    test(`a cancel of the ${named} order stops the new one where the replacement is made (${kind.replacedOrderId ?? 'new'} id)`, async () => {
      await using world = await bench.world({ capabilities: kind })
      const both = await replacing(world, { effect: 'taken' })
      refusesFirst(world, 4)
      await world.given(world.cancel(both[named]))
      await world.clock.advance(60_000)
      const [request] = world.broker.taken
      assert.ok(request)
      world.book.replace(request)
      await world.clock.until(async () => (await statuses(world)) === 'c-1 replaced, m-1 cancelled', 'the new order is cancelled', 60_000)
    })

test('a cancel during a replacement is sent at once: a broker that takes it stops the order long before the replacement is decided', async () => {
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

test('cancelling all while a broker takes no cancel names both orders as requested, and one of them is cancelled in the end', async () => {
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

test('the cancel during a replacement is known after a restart', async () => {
  await using world = await bench.world()
  const { successor } = await replacing(world, { effect: 'none', reply: 'unknown' })
  world.broker.plan = kind => (kind === 'cancel' ? { effect: 'refused', message: 'The order is being replaced.' } : {})
  await world.given(world.cancel(successor))
  await world.restart()
  world.broker.plan = () => ({})
  await world.clock.until(async () => (await statuses(world)) === 'c-1 cancelled, m-1 rejected', 'the old order is cancelled')
})
