// A replacement that the broker accepted stays pending until the broker shows its result, within a bound, like an accepted cancel.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Order } from '@trunkline/core/domain/order'
import { Bench, type World } from '@trunkline/testkit/bench'
import fc from 'fast-check'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const CAPABILITIES = [
  { replacedOrderId: 'new', deduplication: 'enforced' },
  { replacedOrderId: 'same', deduplication: 'label' },
  { replacedOrderId: 'same', deduplication: 'none' }
] as const

/** An order, and a replacement that its broker accepted and has not made yet. */
async function taken(world: World): Promise<{ readonly old: Order; readonly successor: Order }> {
  const old = await world.given(world.place())
  world.broker.plans.replace.push({ effect: 'taken' })
  const successor = await world.given(world.modify(old, { clOrdId: 'other-terms', limitPrice: '11.00' }))
  return { old, successor }
}

async function statuses(world: World, { old, successor }: { readonly old: Order; readonly successor: Order }) {
  return [(await world.stored(old)).status, (await world.stored(successor)).status]
}

function make(world: World): void {
  const [request] = world.broker.taken
  assert.ok(request !== undefined)
  world.ledger.replace(request)
}

for (const kind of CAPABILITIES) {
  const named = `ids ${kind.deduplication}, replaced order ${kind.replacedOrderId}`

  test(`a replacement stays pending while the broker is slow to carry it out, however often look-ups show the old order unchanged (${named})`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 280 }),
        fc.array(fc.integer({ min: 1, max: 250 }), { maxLength: 4 }),
        async (slowS, looksS) => {
          await using world = await bench.world({ capabilities: kind })
          await world.live()
          const both = await taken(world)
          for (const atS of [...looksS, slowS].filter(each => each <= slowS).toSorted((a, b) => a - b)) {
            await world.clock.advance(Math.max(0, atS * 1_000 - world.clock.monotonicMs()))
            // The stream shows the order again, unchanged.
            if (both.old.brokerOrderId !== null) world.ledger.move(both.old.brokerOrderId, 'working')
            assert.deepEqual(await statuses(world, both), ['pending_replace', 'pending'], `after ${atS} s`)
          }
          make(world)
          await world.clock.until(async () => (await statuses(world, both)).join() === 'replaced,working', 'the replacement is made')
          assert.equal(world.broker.sent('replace'), 1)
        }
      ),
      { numRuns: 6 }
    )
  })

  test(`a replacement that the broker accepted and does not carry out within five minutes fails, and the order works on (${named})`, async () => {
    await using world = await bench.world({ capabilities: kind })
    await world.live()
    const both = await taken(world)
    await world.clock.advance(290_000)
    assert.deepEqual(await statuses(world, both), ['pending_replace', 'pending'])
    await world.clock.advance(60_000)
    assert.deepEqual(await statuses(world, both), ['working', 'rejected'])
    const { brokerMessage, rejectCode, submission } = await world.stored(both.successor)
    assert.match(brokerMessage ?? '', /accepted the change but did not carry it out/)
    assert.deepEqual([rejectCode, submission.state, (await world.stored(both.old)).pendingRequest], [null, 'not_received', null])
  })

  test(`the broker’s acceptance of a replacement survives a restart, and the five minutes begin again (${named})`, async () => {
    await using world = await bench.world({ capabilities: kind })
    await world.live()
    const both = await taken(world)
    await world.clock.advance(200_000)
    await world.restart()
    await world.clock.advance(290_000)
    assert.deepEqual(await statuses(world, both), ['pending_replace', 'pending'])
    await world.clock.advance(60_000)
    assert.deepEqual(await statuses(world, both), ['working', 'rejected'])
    assert.match((await world.stored(both.successor)).brokerMessage ?? '', /accepted the change but did not carry it out/)
    assert.equal(world.broker.sent('replace'), 1)
  })

  test(`the end of an order is recorded even while its replacement is pending (${named})`, async () => {
    await using world = await bench.world({ capabilities: kind })
    await world.live()
    const both = await taken(world)
    assert.ok(both.old.brokerOrderId !== null)
    await world.clock.advance(100_000)
    world.ledger.fill(both.old.brokerOrderId, '10')
    await world.clock.until(async () => (await statuses(world, both)).join() === 'filled,rejected', 'both have ended')
  })
}

test('if the broker creates and rejects a replacement, the old order works on', async () => {
  await using world = await bench.world({ capabilities: { replacedOrderId: 'new', deduplication: 'enforced' } })
  await world.live()
  world.broker.streams.down()
  const both = await taken(world)
  const [request] = world.broker.taken
  assert.ok(request !== undefined)
  const { brokerOrderId } = world.ledger.add({ ...request.ticket, ...request }, 'pending')
  world.ledger.move(brokerOrderId, 'rejected', {
    rejectCode: 'insufficient_funds',
    brokerMessage: 'Not enough cash.',
    replacesBrokerOrderId: request.brokerOrderId
  })
  await world.clock.until(async () => (await statuses(world, both)).join() === 'working,rejected', 'the order works on')
  assert.equal((await world.stored(both.successor)).rejectCode, 'insufficient_funds')
})

test('a login that ends during the look-up of a replacement is recorded at once, and the replacement stays pending', async () => {
  await using world = await bench.world()
  await world.live()
  const old = await world.given(world.place())
  world.broker.streams.down()
  world.broker.plans.replace.push({ effect: 'taken', unseen: 'credentials_rejected' })
  const successor = await world.given(world.modify(old, { clOrdId: 'other-terms', limitPrice: '11.00' }))
  assert.deepEqual(await statuses(world, { old, successor }), ['pending_replace', 'pending'])
  await world.clock.until(() => world.health.state === 'broken', 'the connection is broken')
  assert.equal(world.logged.filter(({ message }) => message.startsWith('the result of an accepted command')).length, 1)
})
