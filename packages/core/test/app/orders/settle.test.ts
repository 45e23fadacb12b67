// An operator's decision about an unresolved order: accepted if it can be true, and reported to the order's owner.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { NotSettled, SettlingInterrupted, settleAllAsNotReceived, settleAsNotReceived } from '@trunkline/core/app/orders/settle-order'
import type { OrderId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import type { Owner } from '@trunkline/core/ports/ownership'
import { type AuditEntry, StoreUnavailable } from '@trunkline/core/ports/store'
import { Bench, type World } from '@trunkline/testkit/bench'
import * as make from '@trunkline/testkit/store-contract/records'
import { withMethods } from '@trunkline/testkit/with-methods'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const LOST = { effect: 'none', reply: 'unknown' } as const
/** The time during which an order may still arrive. */
const YOUNG_MS = 300_000

function settle(world: World, { orderId }: Pick<Order, 'orderId'>, isUnseen = false, app = world.app): Promise<Order> {
  const audit: AuditEntry = {
    at: world.clock.now(),
    actor: 'operator',
    action: 'order.never_received',
    target: orderId,
    result: 'ok',
    ip: null,
    requestId: null,
    detail: { by: 'tester@here', because: 'seen' }
  }
  return world.given(settleAsNotReceived(app, orderId, { isUnseen, audit }, new AbortController().signal))
}

async function isRefused(work: Promise<Order>, why: RegExp): Promise<void> {
  await assert.rejects(work, cause => cause instanceof NotSettled && why.test(cause.message))
}

const actionsOf = async (world: World, { orderId }: Order) =>
  (await world.deps.store.audit.list(10_000)).filter(({ target }) => target === orderId).map(({ action }) => action)

test('the operator can end an order that never arrived, once it can no longer arrive; its owner is notified and the audit log records it', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push(LOST)
  const placed = await world.given(world.place())
  await world.clock.advance(YOUNG_MS - 10_000)
  await isRefused(settle(world, placed), /still be on its way. Try again in \d+ seconds/)
  assert.equal((await world.stored(placed)).status, 'pending')
  await world.clock.advance(10_000)
  const settled = await settle(world, placed)
  assert.deepEqual([settled.status, settled.submission.state, settled.submission.method], ['rejected', 'not_received', 'operator'])
  assert.match(settled.brokerMessage ?? '', /operator.*new cl_order_id/)
  assert.deepEqual(await world.stored(placed), settled)
  const [last] = (await world.events()).slice(-1)
  assert.deepEqual(last?.topic === 'orders' && [last.data.orderId, last.data.status], [placed.orderId, 'rejected'])
  assert.ok((await actionsOf(world, placed)).includes('order.never_received'))
  await world.clock.until(() => world.app.resolver.watched === 0, 'nobody looks for it any more', 900_000)
  assert.equal(world.broker.sent('submit'), 1)
  await isRefused(settle(world, placed), /outcome .* is known: it is rejected/)
})

test('an order of a user of another node is not ended here: the message names its owner', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push(LOST)
  const placed = await world.given(world.place())
  await world.clock.advance(YOUNG_MS)
  let owner: Owner = { kind: 'none' }
  const app = { ...world.app, ownership: { ...world.deps.ownership, ownerOf: () => owner } }
  await isRefused(settle(world, placed, true, app), /being moved/)
  owner = { kind: 'other', node: { nodeId: make.uuid(), url: 'http://10.0.0.7:4700' } }
  await isRefused(settle(world, placed, true, app), /node [0-9a-f-]{36}, .* at http:\/\/10\.0\.0\.7:4700/)
  const verdict = { isUnseen: true, entry: () => Object({}), skippedEntry: () => assert.fail('none of them was named before') }
  const { orders, skipped } = await world.given(settleAllAsNotReceived(app, [placed.orderId], verdict, new AbortController().signal))
  assert.deepEqual([orders, skipped.map(({ orderId }) => orderId)], [[], [placed.orderId]])
  assert.equal((await world.stored(placed)).status, 'pending')
})

test('an order that the broker has is not ended', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push({ reply: 'unknown' })
  const placed = await world.given(world.place())
  await world.clock.advance(YOUNG_MS)
  await isRefused(settle(world, placed, true), /is known: it is working \(acknowledged, as o-1/)
})

test('an order is not ended while the broker lists one that may be the same', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push({ reply: 'unknown', effectAfterMs: 200 })
  const placing = world.place()
  await world.clock.until(() => world.broker.sent('submit') === 1, 'the order is sent')
  const [sent] = await world.orders()
  assert.ok(sent !== undefined)
  world.ledger.addOutside(sent, world.account.brokerAccountId)
  const placed = await world.given(placing)
  await world.clock.advance(YOUNG_MS)
  await isRefused(settle(world, placed), /may be at the broker, as o-\d+ or o-\d+,/)
  assert.equal((await world.stored(placed)).status, 'pending')
})

test('another order of ours with the same terms does not prevent it', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push({ reply: 'unknown' }, LOST)
  await world.given(Promise.all([world.place(), world.place()]))
  await world.clock.advance(YOUNG_MS)
  const lost = (await world.orders()).find(({ status }) => status === 'pending')
  assert.ok(lost !== undefined)
  assert.equal((await settle(world, lost)).status, 'rejected')
  assert.deepEqual((await world.orders()).map(({ status }) => status).toSorted(), ['rejected', 'working'])
})

test('a broker that does not answer proves nothing; an operator who has checked its records by other means decides', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push(LOST)
  const placed = await world.given(world.place())
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  await world.clock.advance(YOUNG_MS)
  await isRefused(settle(world, placed), /could not be read .*--unseen/)
  assert.equal((await settle(world, placed, true)).status, 'rejected')
})

test('an order that its owner placed again is a separate order, and an unknown order is reported', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push(LOST)
  const placed = await world.given(world.place())
  await world.clock.advance(YOUNG_MS)
  await settle(world, placed)
  const again = await world.given(world.place())
  assert.deepEqual([again.status, (await world.stored(placed)).status], ['working', 'rejected'])
  await world.clock.advance(120_000)
  assert.equal((await world.stored(placed)).brokerOrderId, null)
  await isRefused(settle(world, { orderId: '01a1fc40-bac8-7000-9fad-169d6cee0b61' as OrderId }), /There is no order/)
})

test('if the broker can look up our ids, an order that appears after the operator’s decision raises an alarm', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'label' } })
  await world.live()
  world.broker.plans.submit.push({ reply: 'unknown', effectAfterMs: YOUNG_MS + 60_000 })
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  const placed = await world.given(world.place())
  await world.clock.advance(YOUNG_MS)
  assert.equal((await settle(world, placed, true)).status, 'rejected')
  world.broker.readPlan = () => ({})
  await world.clock.advance(600_000)
  assert.ok((world.counted.get('order_alarms_total SANDBOX late_sighting') ?? 0) > 0)
})

test('one decision ends a set, each order only if that is allowed: a trial ends nothing, and one audit entry names the ended orders', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push(LOST, LOST, LOST)
  const [first, second] = [await world.given(world.place()), await world.given(world.place({ quantity: '7' }))]
  await world.clock.advance(YOUNG_MS)
  const young = await world.given(world.place({ quantity: '8' }))
  const ids = [first, second, young].map(({ orderId }) => orderId)
  const entry = (orders: readonly Order[]): AuditEntry => ({
    ...{
      at: world.clock.now(),
      actor: 'operator',
      action: 'orders.never_received',
      target: 'SET',
      result: 'ok',
      ip: null,
      requestId: null
    },
    detail: { orders: orders.map(({ orderId }) => orderId).join(' ') }
  })
  const settleAll = (isTrial: boolean) =>
    world.given(
      settleAllAsNotReceived(
        world.app,
        ids,
        { isUnseen: false, entry: isTrial ? null : entry, skippedEntry: () => assert.fail('none of them was kept') },
        new AbortController().signal
      )
    )
  const trial = await settleAll(true)
  assert.deepEqual(
    [trial.orders.map(({ orderId }) => orderId), trial.skipped.map(({ orderId }) => orderId)],
    [[first.orderId, second.orderId], [young.orderId]]
  )
  assert.equal((await world.stored(first)).status, 'pending')
  const readsBefore = world.broker.reads.orders
  const done = await settleAll(false)
  assert.ok(world.broker.reads.orders - readsBefore <= 2, 'an account is read once')
  assert.deepEqual(
    done.orders.map(({ submission }) => submission.method),
    ['operator', 'operator']
  )
  assert.match(done.skipped[0]?.why ?? '', /still be on its way/)
  assert.equal((await world.stored(young)).status, 'pending')
  const entries = (await world.deps.store.audit.list(10_000)).filter(({ action }) => action === 'orders.never_received')
  assert.deepEqual(
    entries.map(({ detail }) => detail.orders),
    [`${first.orderId} ${second.orderId}`]
  )
})

test('a list that is too old when an order is reached ends nothing: it is read again, and if that fails the order is kept', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push(LOST)
  const placed = await world.given(world.place())
  await world.clock.advance(YOUNG_MS)
  // The time that the lists of other accounts take.
  const appended: unknown[] = []
  const append = async (entry: unknown) => {
    appended.push(entry)
    await world.clock.sleep(60_000)
    world.broker.readPlan = () => ({ fault: 'unreachable' })
  }
  const app = { ...world.app, store: { ...world.app.store, audit: Object({ append }) } }
  const verdict = {
    isUnseen: false,
    entry: () => Object({ ends: placed.orderId }),
    skippedEntry: (orderIds: readonly OrderId[]) => Object({ skipped: orderIds })
  }
  const done = await world.given(settleAllAsNotReceived(app, [placed.orderId], verdict, new AbortController().signal))
  assert.deepEqual([done.orders, done.skipped.map(({ orderId }) => orderId)], [[], [placed.orderId]])
  assert.deepEqual(appended, [{ ends: placed.orderId }, { skipped: [placed.orderId] }], 'the log says that it was not ended after all')
  assert.equal((await world.stored(placed)).status, 'pending')
})

test('setting the wall clock forward does not make an order old enough to be ended', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push(LOST)
  const placed = await world.given(world.place())
  world.clock.setWall(3_600_000)
  await isRefused(settle(world, placed), /still be on its way/)
})

test('an order that is being sent when it is reached is not ended', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push(LOST)
  const placed = await world.given(world.place())
  await world.clock.advance(YOUNG_MS)
  let tries = 0
  const commands = withMethods(world.app.commands, { isSending: () => ++tries > 1 })
  const verdict = { isUnseen: true, audit: Object({}) }
  await isRefused(
    world.given(settleAsNotReceived({ ...world.app, commands }, placed.orderId, verdict, new AbortController().signal)),
    /became known meanwhile/
  )
  assert.equal((await world.stored(placed)).status, 'pending')
})

test('a set that fails midway reports the reason, the missing audit entries, and the orders that were ended', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push(LOST, LOST)
  const [first, second] = [await world.given(world.place()), await world.given(world.place({ quantity: '7' }))]
  await world.clock.advance(YOUNG_MS)
  const calls = new Map<string, number>()
  world.watched.intercept = async call => {
    const count = (calls.get(call.name) ?? 0) + 1
    calls.set(call.name, count)
    if (count === 2 && call.name === 'audit.append') throw new Error('The log is full.')
    if (count === 2 && call.name === 'orders.record') throw new StoreUnavailable('The second order cannot be written.')
    return call.go()
  }
  const entryOf = (action: string): AuditEntry => ({
    ...{ at: world.clock.now(), actor: 'operator', action, target: 'SET', result: 'ok', ip: null, requestId: null, detail: {} }
  })
  const verdict = { isUnseen: true, entry: () => entryOf('orders.never_received'), skippedEntry: () => entryOf('orders.not_ended') }
  const ids = [first.orderId, second.orderId]
  const settling = world.given(settleAllAsNotReceived(world.app, ids, verdict, new AbortController().signal))
  await assert.rejects(settling, cause => {
    assert.ok(cause instanceof SettlingInterrupted)
    assert.match(cause.message, /The second order cannot be written. Then: The log is full./)
    assert.match(cause.message, new RegExp(`These were ended: ${first.orderId}; look again at ${second.orderId}`))
    return true
  })
  world.watched.intercept = null
  assert.deepEqual([(await world.stored(first)).status, (await world.stored(second)).status], ['rejected', 'pending'])
})

test('once nobody waits for it, no order is ended, seen or unseen, and a set stops where it is', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  await world.live()
  world.broker.plans.submit.push(LOST, LOST)
  const [first, second] = [await world.given(world.place()), await world.given(world.place({ quantity: '7' }))]
  await world.clock.advance(YOUNG_MS)
  const gone = AbortSignal.abort(new Error('Nobody waits.'))
  for (const isUnseen of [true, false]) {
    const settling = world.given(settleAsNotReceived(world.app, first.orderId, { isUnseen, audit: Object({}) }, gone))
    await assert.rejects(settling, /Nobody waits/)
  }
  const ids = [first.orderId, second.orderId]
  const entryOf = (action: string): AuditEntry => ({
    ...{ at: world.clock.now(), actor: 'operator', action, target: first.orderId, result: 'ok', ip: null, requestId: null, detail: {} }
  })
  const verdict = { isUnseen: true, entry: () => entryOf('orders.never_received'), skippedEntry: () => entryOf('orders.not_ended') }
  await assert.rejects(world.given(settleAllAsNotReceived(world.app, ids, verdict, gone)), /Nobody waits/)
  assert.deepEqual([(await world.stored(first)).status, (await world.stored(second)).status], ['pending', 'pending'])

  // It leaves once the first is ended.
  const leaving = new AbortController()
  world.watched.intercept = async call => {
    const result = await call.go()
    if (call.name === 'orders.record') leaving.abort(new Error('Nobody waits.'))
    return result
  }
  const settling = world.given(settleAllAsNotReceived(world.app, ids, verdict, leaving.signal))
  await assert.rejects(settling, new RegExp(`Nobody waits. These were ended: ${first.orderId}; look again at ${second.orderId}`))
  world.watched.intercept = null
  assert.deepEqual([(await world.stored(first)).status, (await world.stored(second)).status], ['rejected', 'pending'])
  const actions = (await actionsOf(world, first)).filter(action => action.startsWith('orders.'))
  assert.deepEqual(actions.toSorted(), ['orders.never_received', 'orders.not_ended'])
})
