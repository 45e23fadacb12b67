// Brokers at which a replaced order keeps its id: here it is two orders, and no execution counts in both.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { filledQuantity } from '@trunkline/core/domain/order-machine'
import { Bench, type World } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

for (const deduplication of ['none', 'label'] as const)
  for (const mode of ['fills', 'totals'] as const) {
    const named = `client ids ${deduplication}, ${mode}`

    async function live(): Promise<World> {
      const world = await bench.world({ capabilities: { deduplication, replacedOrderId: 'same' } })
      world.broker.reports = mode
      await world.live()
      return world
    }

    /** `status filled` of each, in the order of their placement. */
    async function summary(world: World): Promise<readonly string[]> {
      return (await world.orders()).map(order => `${order.status} ${filledQuantity(order)} of ${order.quantity} at ${order.limitPrice}`)
    }

    /** `previouslyFilledQuantity` of each, in the order of their placement. */
    async function previous(world: World): Promise<readonly (string | null)[]> {
      return (await world.orders()).map(order => order.previouslyFilledQuantity)
    }

    test(`accepted after a partial fill: each order has its own fills (${named})`, async () => {
      await using world = await live()
      const old = await world.given(world.place())
      world.ledger.fill('o-1', '3', '10.00')
      await world.clock.until(async () => (await world.stored(old)).fills.length === 1, 'the fill is known')
      const successor = await world.given(world.modify(old, { clOrdId: 'm-1', quantity: '12', limitPrice: '11.00' }))
      assert.deepEqual(await summary(world), ['replaced 3 of 10 at 10.00', 'working 0 of 12 at 11.00'])
      world.ledger.fill('o-1', '9', '11.00')
      await world.clock.until(async () => (await world.stored(successor)).status === 'filled', 'the successor is filled')
      assert.deepEqual(await summary(world), ['replaced 3 of 10 at 10.00', 'filled 9 of 12 at 11.00'])
      const { fills, brokerOrderId } = await world.stored(successor)
      assert.deepEqual([fills.map(({ price }) => Number(price)), brokerOrderId], [[11], 'o-1'])
      assert.deepEqual(await previous(world), [null, '3'])
    })

    test(`every execution is counted once over a chain of replacements (${named})`, async () => {
      await using world = await live()
      const first = await world.given(world.place())
      world.ledger.fill('o-1', '1')
      await world.clock.advance(1_000)
      const second = await world.given(world.modify(first, { clOrdId: 'm-1', limitPrice: '11.00' }))
      world.ledger.fill('o-1', '2')
      await world.clock.advance(1_000)
      await world.given(world.modify(second, { clOrdId: 'm-2', limitPrice: '12.00' }))
      world.ledger.fill('o-1', '3')
      await world.clock.advance(1_000)
      assert.deepEqual(await summary(world), [
        'replaced 1 of 10 at 10.00',
        'replaced 2 of 10 at 11.00',
        'partially_filled 3 of 10 at 12.00'
      ])
      assert.deepEqual(await previous(world), [null, '1', '3'])
      await world.restart()
      await world.live()
      await world.clock.advance(400_000)
      assert.deepEqual(await previous(world), [null, '1', '3'])
      assert.deepEqual(await summary(world), [
        'replaced 1 of 10 at 10.00',
        'replaced 2 of 10 at 11.00',
        'partially_filled 3 of 10 at 12.00'
      ])
    })

    test(`the answer is lost and the change was made: the order’s terms show it (${named})`, async () => {
      await using world = await live()
      const old = await world.given(world.place())
      world.broker.plans.replace.push({ reply: 'unknown', effectAfterMs: 700 })
      await world.given(world.modify(old, { clOrdId: 'm-1', limitPrice: '11.00' }))
      await world.clock.until(() => world.app.resolver.watched === 0, 'the outcome is known', 120_000)
      assert.deepEqual(await summary(world), ['replaced 0 of 10 at 10.00', 'working 0 of 10 at 11.00'])
      assert.equal(world.broker.sent('replace'), 1)
    })

    test(`the change is made and fills before it is reported (${named})`, async () => {
      await using world = await live()
      const old = await world.given(world.place())
      world.broker.streams.down()
      world.broker.plans.replace.push({ reply: 'unknown' })
      const modifying = world.modify(old, { clOrdId: 'm-1', limitPrice: '11.00' })
      await world.clock.until(() => world.broker.sent('replace') === 1, 'the change is sent')
      world.ledger.fill('o-1', '10', '11.00')
      await world.given(modifying)
      await world.clock.until(() => world.app.resolver.watched === 0, 'the outcome is known', 120_000)
      assert.deepEqual(await previous(world), [null, '0'])
      assert.deepEqual(await summary(world), ['replaced 0 of 10 at 10.00', 'filled 10 of 10 at 11.00'])
    })

    test(`the answer is lost and the change never arrived: the old order works on (${named})`, async () => {
      await using world = await live()
      const old = await world.given(world.place())
      world.broker.plans.replace.push({ effect: 'none', reply: 'unknown' })
      await world.given(world.modify(old, { clOrdId: 'm-1', limitPrice: '11.00' }))
      await world.clock.until(() => world.app.resolver.watched === 0, 'the outcome is known', 400_000)
      assert.deepEqual(await summary(world), ['working 0 of 10 at 10.00', 'rejected 0 of 10 at 11.00'])
    })

    test(`the old order ends before the change arrives: the successor never worked (${named})`, async () => {
      await using world = await live()
      const old = await world.given(world.place())
      world.broker.plans.replace.push({ effect: 'none', reply: 'unknown' })
      const modifying = world.modify(old, { clOrdId: 'm-1', limitPrice: '11.00' })
      await world.clock.until(() => world.broker.sent('replace') === 1, 'the change is sent')
      world.ledger.fill('o-1', '10')
      await world.given(modifying)
      await world.clock.until(() => world.app.resolver.watched === 0, 'the outcome is known', 400_000)
      assert.deepEqual(await summary(world), ['filled 10 of 10 at 10.00', 'rejected 0 of 10 at 11.00'])
    })

    test(`refused: the old order works on, and its reports are its own (${named})`, async () => {
      await using world = await live()
      const old = await world.given(world.place())
      world.broker.plans.replace.push({ effect: 'refused', message: 'Not now.' })
      await world.given(world.modify(old, { clOrdId: 'm-1', limitPrice: '11.00' }))
      world.ledger.fill('o-1', '4')
      await world.clock.until(async () => (await world.stored(old)).fills.length === 1, 'the fill is known')
      assert.deepEqual(await summary(world), ['partially_filled 4 of 10 at 10.00', 'rejected 0 of 10 at 11.00'])
    })

    test(`a cancel of the successor ends it, not its predecessor (${named})`, async () => {
      await using world = await live()
      const old = await world.given(world.place())
      const successor = await world.given(world.modify(old, { clOrdId: 'm-1', limitPrice: '11.00' }))
      await world.given(world.cancel(successor))
      assert.deepEqual(await summary(world), ['replaced 0 of 10 at 10.00', 'cancelled 0 of 10 at 11.00'])
    })
  }

for (const first of ['the execution', 'the change'] as const)
  test(`an execution before the change is counted once, if both are reported at once, ${first} first`, async () => {
    await using world = await bench.world({ capabilities: { deduplication: 'label', replacedOrderId: 'same' } })
    await world.live()
    const old = await world.given(world.place())
    world.broker.plans.replace.push({ effect: 'taken' })
    await world.given(world.modify(old, { clOrdId: 'm-1', limitPrice: '11.00' }))
    world.broker.streams.route = () => []
    const executed = world.ledger.fill('o-1', '4')
    const replaced = world.ledger.move('o-1', 'partially_filled', { limitPrice: parseDecimal('11.00', 'price') })
    const reports = first === 'the execution' ? [executed, replaced] : [replaced, executed]
    await world.given(Promise.all(reports.map(report => world.app.orderReports.applyReport(old.orderId, report, 'stream'))))
    const orders = await world.orders()
    assert.deepEqual(
      orders.map(order => order.status),
      ['replaced', first === 'the execution' ? 'working' : 'partially_filled']
    )
    assert.equal(orders.flatMap(({ fills }) => fills).length, 1)
    assert.equal(world.counted.get('order_alarms_total SANDBOX late_fill'), undefined)
  })

test('if our id is a label, another order with the same label is another order', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'label', replacedOrderId: 'same' } })
  await world.live()
  const placed = await world.given(world.place())
  const { route } = world.broker.streams
  world.broker.streams.route = () => []
  world.ledger.addOutside(placed, world.account.brokerAccountId)
  world.broker.streams.route = route
  world.ledger.move('o-2', 'working', { brokerClOrdId: placed.brokerClOrdId })
  await world.clock.until(async () => (await world.orders()).length === 2, 'the other one is shown as well')
  world.ledger.fill('o-2', '4')
  await world.clock.advance(2_000)
  await world.restart()
  await world.live()
  world.ledger.fill('o-2', '3')
  await world.clock.advance(2_000)
  const filled = (await world.orders()).map(order => `${order.submission.state} ${order.brokerOrderId} ${filledQuantity(order)}`)
  assert.deepEqual(filled, ['acknowledged o-1 0', 'external o-2 7'])
})

test('an order that was enlarged at the broker’s own site is not filled by its former quantity', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'label', replacedOrderId: 'same' } })
  world.broker.reports = 'totals'
  await world.live()
  const placed = await world.given(world.place())
  const { route } = world.broker.streams
  world.broker.streams.route = () => []
  world.ledger.move('o-1', 'working', { quantity: parseDecimal('20', 'quantity') })
  world.broker.streams.route = route
  world.ledger.fill('o-1', '10')
  await world.clock.until(async () => (await world.stored(placed)).fills.length === 1, 'the fill is known')
  assert.deepEqual([(await world.stored(placed)).status, (await world.stored(placed)).quantity], ['partially_filled', '20'])
  world.ledger.fill('o-1', '10')
  await world.clock.until(async () => (await world.stored(placed)).status === 'filled', 'all of it is filled')
  assert.equal(world.counted.get('order_alarms_total SANDBOX overfill'), undefined)
})

for (const status of ['rejected', 'cancelled', 'expired'] as const)
  test(`an order that the broker shows under its new terms as ${status} has ended, and is never shown as working`, async () => {
    await using world = await bench.world({ capabilities: { replacedOrderId: 'same', deduplication: 'label' } })
    await world.live()
    const old = await world.given(world.place())
    assert.ok(old.brokerOrderId)
    world.broker.plans.replace.push({ effect: 'taken' })
    await world.given(world.modify(old, { clOrdId: 'dead', limitPrice: '11.00' }))
    const before = world.published.length
    const reason = status === 'rejected' ? ({ rejectCode: 'insufficient_funds', brokerMessage: 'Not enough cash.' } as const) : {}
    world.ledger.move(old.brokerOrderId, status, { limitPrice: parseDecimal('11.00', 'price'), ...reason })
    await world.clock.until(async () => (await world.stored(old)).status !== 'pending_replace', 'the old order has ended')
    await world.clock.advance(120_000)
    const ends = (await world.orders()).map(order => [order.clOrdId, order.status, order.rejectCode])
    assert.deepEqual(ends, [
      ['c-1', 'replaced', null],
      ['dead', status, status === 'rejected' ? 'insufficient_funds' : null]
    ])
    const shown = world.published
      .slice(before)
      .flatMap(event => (event.topic === 'orders' ? [`${event.data.clOrdId} ${event.data.status}`] : []))
    assert.ok(!shown.includes('c-1 working') && !shown.includes('c-1 rejected'), shown.join(', '))
  })
