// A broker that refuses an order in its answer may also show it on its stream and in its lists: it is one order, whichever comes first.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'
import { Bench, type World } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const WAYS = ['answer', 'stream', 'list'] as const
type Way = (typeof WAYS)[number]

const ARRIVALS: readonly (readonly Way[])[] = WAYS.flatMap(first =>
  WAYS.filter(second => second !== first).map(second => [first, second, ...WAYS.filter(third => third !== first && third !== second)])
)
const DEDUPLICATIONS: readonly BrokerCapabilities['deduplication'][] = ['enforced', 'label', 'none']

/** The delay from sending an order to its report in each way. */
function reportInOrder(world: World, ways: readonly Way[]): void {
  const ms = (way: Way) => 400 * ways.indexOf(way)
  const begun = world.clock.monotonicMs()
  world.broker.streams.route = report => [{ report, afterMs: ms('stream') }]
  world.broker.readPlan = kind =>
    kind === 'orders' ? { hides: ({ status }) => status !== 'working' && world.clock.monotonicMs() - begun < ms('list') } : {}
  world.broker.plans.submit.push({ effect: 'refused_and_kept', message: 'Not enough cash.', replyAfterMs: ms('answer') })
}

async function records(world: World) {
  return (await world.orders()).map(({ clOrdId, status, submission, brokerMessage }) => [clOrdId, status, submission.state, brokerMessage])
}

for (const deduplication of DEDUPLICATIONS)
  for (const ways of ARRIVALS)
    test(`a refused order is shown as one order: ids ${deduplication}, ${ways.join(' before ')}`, async () => {
      await using world = await bench.world({
        capabilities: { deduplication },
        timing: { reconcileMs: 150, pollMs: 150, lookupPausesMs: [150] }
      })
      await world.live()
      reportInOrder(world, ways)
      const order = await world.given(world.place({ clOrdId: 'mine' }))
      await world.clock.advance(5_000)
      assert.deepEqual((await world.stored(order)).brokerOrderId, 'o-1')
      const [[clOrdId, status, , message] = [], ...others] = await records(world)
      assert.deepEqual([clOrdId, status, message, others], ['mine', 'rejected', 'Not enough cash.', []])
      assert.equal(world.broker.sent('submit'), 1)
    })

test('two refused orders with the same terms are two orders, each matched to its own at the broker, and a third one from elsewhere is shown too', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push({ effect: 'refused_and_kept' }, { effect: 'refused_and_kept' })
  const first = await world.given(world.place({ clOrdId: 'first' }))
  await world.clock.advance(2_000)
  await world.given(world.place({ clOrdId: 'second' }))
  await world.clock.advance(2_000)
  world.ledger.addOutside(first, world.account.brokerAccountId, 'rejected')
  await world.clock.advance(60_000)
  const shown = (await world.orders()).map(({ clOrdId, brokerOrderId, status }) => `${clOrdId} ${brokerOrderId} ${status}`)
  assert.deepEqual(shown.toSorted(), ['first o-1 rejected', 'o-3 o-3 rejected', 'second o-2 rejected'])
})

test('a live order placed elsewhere is never matched to a similar refused one', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push({ effect: 'refused' })
  const order = await world.given(world.place({ clOrdId: 'mine' }))
  world.ledger.addOutside(order, world.account.brokerAccountId)
  const waits = world.ledger.addOutside(order, world.account.brokerAccountId, 'pending')
  await world.clock.advance(120_000)
  assert.equal(world.ledger.get(waits.brokerOrderId).status, 'pending')
  const shown = (await world.orders()).map(({ clOrdId, status }) => `${clOrdId} ${status}`)
  assert.deepEqual(shown.toSorted(), ['mine rejected', 'o-1 working', 'o-2 pending'])
})

test('an order that the adapter refuses was never sent, and shows that; as a change, it leaves the message of the old order unchanged', async () => {
  await using world = await bench.world()
  world.broker.plans.submit.push({ effect: 'refused_unsent', message: 'Two decimal places are taken.', rejectCode: 'tick_size' })
  const never = await world.given(world.place())
  const { state, attempts, method } = never.submission
  assert.deepEqual([never.status, state, attempts, method, never.rejectCode], ['rejected', 'refused_by_gateway', 0, null, 'tick_size'])
  assert.equal(never.brokerMessage, 'Two decimal places are taken. It was not sent to the broker.')
  const old = await world.given(world.place({ clOrdId: 'old' }))
  world.broker.plans.replace.push({ effect: 'refused_unsent', message: 'Two decimal places are taken.', rejectCode: 'tick_size' })
  const change = await world.given(world.modify(old, { clOrdId: 'new', limitPrice: '99.00' }))
  assert.deepEqual([change.submission.state, change.submission.attempts, world.broker.sent('replace')], ['refused_by_gateway', 0, 0])
  const after = await world.stored(old)
  assert.deepEqual([after.status, after.brokerMessage], ['working', old.brokerMessage])
})
