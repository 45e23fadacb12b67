// Failed replacements: the outcome of the old order decides whether anything is left to place, and the record shows that.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Order } from '@trunkline/core/domain/order'
import { isOpen } from '@trunkline/core/domain/order'
import { Bench, type World } from '@trunkline/testkit/bench'
import type { CommandPlan } from '@trunkline/testkit/scripted-broker/index'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const CAPABILITIES = [
  { replacedOrderId: 'new', deduplication: 'enforced' },
  { replacedOrderId: 'new', deduplication: 'label' },
  { replacedOrderId: 'new', deduplication: 'enforced', replacedQuantity: 'rest' },
  { replacedOrderId: 'same', deduplication: 'label' },
  { replacedOrderId: 'same', deduplication: 'none' }
] as const

interface Both {
  readonly old: Order
  readonly successor: Order
}

/** An order, and a change of it with the outcome of `plan`. */
async function changed(world: World, plan: CommandPlan, quantity?: string): Promise<Both> {
  const old = await world.given(world.place())
  world.broker.plans.replace.push(plan)
  const change = quantity === undefined ? { limitPrice: '9.00' } : { limitPrice: '9.00', quantity }
  return { old, successor: await world.given(world.modify(old, { clOrdId: 'm-1', ...change })) }
}

async function ended(world: World, { successor }: Both): Promise<Order> {
  await world.clock.until(async () => !isOpen((await world.stored(successor)).status), 'the replacement has ended')
  const order = await world.stored(successor)
  assert.equal(order.status, 'rejected')
  assert.doesNotMatch(order.brokerMessage ?? '', /safe to place|never received the order/)
  return order
}

const LOST = { effect: 'none', reply: 'unknown' } as const

for (const kind of CAPABILITIES) {
  const named = `ids ${Object.values(kind).join(', ')}`

  for (const isRestarted of [false, true])
    test(`the old order filled first: nothing is left to place, and the record shows that${isRestarted ? ' after a restart' : ''} (${named})`, async () => {
      await using world = await bench.world({ capabilities: kind })
      await world.live()
      const both = await changed(world, LOST)
      if (isRestarted) await world.stop()
      world.ledger.fill(both.old.brokerOrderId ?? '', '10')
      if (isRestarted) await world.restart()
      const order = await ended(world, both)
      assert.match(order.brokerMessage ?? '', /did not take effect\..* ended first \(filled 10 of 10\)\. Nothing of it is left to place\./)
      assert.deepEqual(
        [order.rejectCode, order.submission.state, order.quantity, order.previouslyFilledQuantity],
        ['order_ended', 'not_received', '10', '10']
      )
      assert.deepEqual([(await world.stored(both.old)).status, (await world.stored(both.old)).brokerMessage], ['filled', null])
    })

  test(`the old order was cancelled first after a partial fill: the quantity not placed is counted (${named})`, async () => {
    await using world = await bench.world({ capabilities: kind })
    await world.live()
    const both = await changed(world, LOST, '12')
    world.ledger.fill(both.old.brokerOrderId ?? '', '4')
    world.ledger.move(both.old.brokerOrderId ?? '', 'cancelled')
    const order = await ended(world, both)
    assert.match(order.brokerMessage ?? '', /ended first \(cancelled, filled 4 of 10\)\. Of the 12 requested, 8 were not placed\./)
    assert.deepEqual([order.rejectCode, order.previouslyFilledQuantity], ['order_ended', '4'])
  })

  test(`the old order works on: the change can be requested again, and no new order is placed (${named})`, async () => {
    await using world = await bench.world({ capabilities: kind })
    await world.live()
    const both = await changed(world, LOST)
    const order = await ended(world, both)
    assert.match(order.brokerMessage ?? '', /did not take effect\..* still works unchanged: .* request the change again/)
    assert.deepEqual([order.rejectCode, order.previouslyFilledQuantity], [null, '0'])
    const old = await world.stored(both.old)
    assert.deepEqual([old.status, old.brokerMessage], ['working', null])
  })

  for (const isReportedLate of [false, true])
    test(`the broker refuses a change of an order that filled${isReportedLate ? ', and the execution is reported later' : ''} (${named})`, async () => {
      await using world = await bench.world({ capabilities: kind })
      await world.live()
      const old = await world.given(world.place())
      const { brokerOrderId } = old
      assert.ok(brokerOrderId !== null)
      world.broker.plans.replace.push({ effectAfterMs: 500, replyAfterMs: isReportedLate ? 0 : 500 })
      const modifying = world.modify(old, { clOrdId: 'm-1', limitPrice: '9.00' })
      await world.clock.until(() => world.broker.sent('replace') === 1, 'the change is sent')
      if (isReportedLate) world.broker.streams.down()
      if (isReportedLate) world.broker.readPlan = () => ({ fault: 'unreachable' })
      const filled = world.ledger.fill(brokerOrderId, '10')
      const successor = await world.given(modifying)
      if (isReportedLate) await world.given(world.app.orderReports.applyReport(old.orderId, filled, 'stream'))
      const order = await ended(world, { old, successor })
      assert.deepEqual(
        [order.submission.state, order.rejectCode, order.previouslyFilledQuantity, order.quantity],
        ['refused', 'order_ended', '10', '10']
      )
    })
}

test('the message of a change that was not sent is about the change only', async () => {
  await using world = await bench.world()
  await world.live()
  const both = await changed(world, { reply: 'not_sent' })
  const order = await ended(world, both)
  assert.match(order.brokerMessage ?? '', /^The modification was not sent to the broker \(.*\)\. .* still works unchanged/)
  assert.equal((await world.stored(both.old)).brokerMessage, null)
})

test('an exact reason of the broker stays, and a later fill is not given as the reason of an earlier refusal', async () => {
  await using world = await bench.world()
  await world.live()
  const both = await changed(world, { effect: 'refused', message: 'Not now.' })
  assert.equal((await ended(world, both)).rejectCode, 'other')
  await world.clock.advance(60_000)
  world.ledger.fill(both.old.brokerOrderId ?? '', '10')
  await world.clock.until(async () => (await world.stored(both.old)).status === 'filled', 'the old order has filled')
  const order = await ended(world, both)
  assert.deepEqual([order.rejectCode, order.brokerMessage], ['other', 'Not now.'])
})
