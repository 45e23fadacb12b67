// A broker whose quantity of a replacement is the remainder when it was made: ours is the requested total, for any order of reports.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { compare, parseDecimal, sum } from '@trunkline/core/domain/decimal'
import type { Order } from '@trunkline/core/domain/order'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { Bench, type World } from '@trunkline/testkit/bench'
import fc from 'fast-check'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const decimal = (value: number) => parseDecimal(String(value), 'quantity')

/** A world whose broker sends nothing by itself. */
async function silent(): Promise<World> {
  const world = await bench.world({ capabilities: { replacedQuantity: 'rest' } })
  world.broker.streams.down()
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  return world
}

/** The broker's record of `order` at a time: its own quantity, and the filled part of it. */
function shown(world: World, order: Order, quantity: number, filled: number, status: OrderReport['status']): OrderReport {
  const { brokerOrderId, brokerClOrdId } = order
  const at = world.clock.now()
  const fills = Array.from({ length: filled }, (_, index) => ({
    ...{ fillId: `${order.clOrdId}-${index}`, at, quantity: decimal(1), price: parseDecimal('9.00', 'price'), execDest: null }
  }))
  const own = { brokerClOrdId, quantity: decimal(quantity), fills, status, brokerStatus: status, entryTime: at, updatedAt: at }
  return { ...world.ledger.get('o-1'), ...own, brokerOrderId: brokerOrderId ?? `of-${order.clOrdId}`, limitPrice: order.limitPrice }
}

test('a price change of an order that fills meanwhile: the rejected replacement has the requested quantity', async () => {
  await using world = await silent()
  const old = await world.given(world.place())
  world.broker.plans.replace.push({ effect: 'taken' })
  const successor = await world.given(world.modify(old, { clOrdId: 'm-1', limitPrice: '9.00' }))
  await world.given(world.app.orderReports.applyReport(old.orderId, shown(world, old, 10, 10, 'filled'), 'stream'))
  await world.given(world.app.orderReports.applyReport(successor.orderId, shown(world, successor, 10, 0, 'rejected'), 'stream'))
  const { status, quantity, previouslyFilledQuantity, rejectCode } = await world.stored(successor)
  assert.deepEqual([status, quantity, previouslyFilledQuantity, rejectCode], ['rejected', '10', '10', 'order_ended'])
})

test('over a chain of three, whatever fills when and however late it is reported, each order has the requested total', async () => {
  const parts = fc.record({
    before: fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 2 })),
    between: fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 2 })),
    isFilled: fc.boolean(),
    isRestarted: fc.boolean(),
    ranks: fc.array(fc.nat({ max: 1_000 }), { minLength: 8, maxLength: 8 })
  })
  await fc.assert(
    fc.asyncProperty(parts, async ({ before, between, isFilled, isRestarted, ranks }) => {
      await using world = await silent()
      const first = await world.given(world.place())
      const late: { readonly of: Order; readonly report: OrderReport }[] = []
      const chain = [first]
      // The remainder of the total by the broker's records, which have every execution.
      let left = 10
      for (const [step, known] of before.entries()) {
        const order = chain.at(-1) ?? first
        const unknown = between[step] ?? 0
        const knownReport = shown(world, order, left, known, known === 0 ? 'working' : 'partially_filled')
        await world.given(world.app.orderReports.applyReport(order.orderId, knownReport, 'stream'))
        // More fills occur in transit, so the replacement is shown with the remainder at the request, and later with the current one.
        const requested = left - known
        world.broker.plans.replace.push({ effect: 'taken' })
        const successor = await world.given(world.modify(order, { clOrdId: `m-${step}`, limitPrice: `${8 - step}.00` }))
        late.push({ of: order, report: shown(world, order, left, known + unknown, 'replaced') })
        left -= known + unknown
        const made = shown(world, successor, requested, 0, 'working')
        const { orderId } = successor
        await world.given(world.app.orderReports.completeReplacement(order.orderId, orderId, made, 'stream'))
        chain.push(await world.stored(successor))
        late.push({ of: successor, report: shown(world, successor, left, 0, 'working') })
      }
      const last = chain.at(-1) ?? first
      const end = isFilled ? shown(world, last, left, left, 'filled') : shown(world, last, left, 1, 'cancelled')
      late.push({ of: last, report: end })
      if (isRestarted) await world.restart()
      for (const { entry } of late.map((entry, index) => ({ entry, rank: ranks[index] ?? 0 })).toSorted((a, b) => a.rank - b.rank))
        await world.given(world.app.orderReports.applyReport(entry.of.orderId, entry.report, 'stream'))
      const orders = await Promise.all(chain.map(order => world.stored(order)))
      assert.deepEqual(
        orders.map(({ quantity }) => quantity),
        ['10', '10', '10']
      )
      const executed = sum(orders.flatMap(({ fills }) => fills.map(({ quantity }) => quantity)))
      assert.ok(compare(executed, decimal(10)) <= 0, `${executed} were executed`)
      if (isFilled) assert.equal(executed, '10')
      assert.equal(world.counted.get('order_alarms_total SANDBOX overfill') ?? 0, 0)
    }),
    { numRuns: 25 }
  )
})

test('a modification carries the change of the total, whatever was filled before', async () => {
  await using world = await bench.world({ capabilities: { replacedQuantity: 'rest' } })
  await world.live()
  const requested: (string | undefined)[] = []
  const replace = world.ledger.replace.bind(world.ledger)
  world.ledger.replace = request => {
    requested.push(request.totalChange)
    return replace(request)
  }
  const first = await world.given(world.place({ quantity: '10' }))
  const second = await world.given(world.modify(first, { clOrdId: 'm-1', quantity: '12' }))
  const third = await world.given(world.modify(second, { clOrdId: 'm-2', limitPrice: '9.00' }))
  await world.given(world.modify(third, { clOrdId: 'm-3', quantity: '9.5' }))
  assert.deepEqual(requested, ['2', '0', '-2.5'])
})
