// A replay whose order was to be cancelled: the order is placed by then, so a cancel that is refused is part of the answer.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Bench } from '@trunkline/testkit/bench'
import { cancelled } from '../../src/operators/replay/cancelling.ts'
import { SandboxRefusal } from '../../src/operators/sandbox/control.ts'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

test('an order that ends between the last look and its cancel is returned as it ended, with the refusal', async () => {
  await using world = await bench.world()
  await world.live()
  const seen = await world.given(world.place())
  world.ledger.fill(seen.brokerOrderId ?? '', '10')
  await world.clock.until(async () => (await world.stored(seen)).status === 'filled', 'it is filled')
  const deps = { app: Object({ ...world.app, clock: world.clock }), sandbox: 'elsewhere' } as const
  const { order, left } = await world.given(cancelled(deps, 'service', seen, world))
  assert.equal(order.status, 'filled')
  assert.deepEqual([left.length, left[0]?.part], [1, 'end'])
  assert.match(left[0]?.why ?? '', /^Its cancel was refused \(order_not_open\): /)
})

test('a refusal of the sandbox is in the answer, too; what is no refusal is thrown', async () => {
  await using world = await bench.world()
  await world.live()
  const seen = await world.given(world.place())
  const after = (failure: Error) => {
    const ask = () => Promise.reject(failure)
    return { app: Object({ ...world.app, clock: world.clock }), sandbox: Object({ control: { ask } }) }
  }
  const refusal = new SandboxRefusal('order_closed', 'the order has ended')
  const { order, left } = await world.given(cancelled(after(refusal), 'sandbox', seen, world))
  assert.deepEqual([order.orderId, order.status], [seen.orderId, 'working'])
  assert.match(left[0]?.why ?? '', /\(sandbox_refused\): .*the order has ended/)
  await assert.rejects(world.given(cancelled(after(new TypeError('a bug')), 'sandbox', seen, world)), TypeError)
})

test('a cancel that is taken leaves nothing to say', async () => {
  await using world = await bench.world()
  await world.live()
  const seen = await world.given(world.place())
  const deps = { app: Object({ ...world.app, clock: world.clock }), sandbox: 'elsewhere' } as const
  const { order, left } = await world.given(cancelled(deps, 'service', seen, world))
  assert.deepEqual([order.status, left], ['cancelled', []])
})
