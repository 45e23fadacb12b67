// Unconfirmed commits: an order that was not sent is reported so as soon as the database shows it, and the end of a connection is still
// published.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { deleteConnection } from '@trunkline/core/app/connections/delete-connection'
import { deleteUser } from '@trunkline/core/app/users/users'
import type { BusMessage } from '@trunkline/core/ports/bus'
import { CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'
import { Bench, type World } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

/** The commit of the next write of orders happens, its answer is lost, and orders cannot be read until `answers`. */
function silentAfterCommit(world: World, isStruck: (nth: number) => boolean = nth => nth === 1): { answers(): void } {
  let nth = 0
  let isSilent = false
  world.watched.intercept = async call => {
    if (isSilent && call.name.startsWith('orders.')) throw new StoreUnavailable('the database does not answer')
    if (call.name !== 'orders.record') return call.go()
    nth += 1
    if (!isStruck(nth)) return call.go()
    await call.go()
    isSilent = true
    throw new CommitUnknown('lost at the commit')
  }
  return {
    answers() {
      isSilent = false
    }
  }
}

for (const deduplication of ['enforced', 'none'] as const) {
  test(`an order whose intent was stored without confirmation ends as not sent, at a broker with ${deduplication} ids`, async () => {
    await using world = await bench.world({ capabilities: { deduplication } })
    const database = silentAfterCommit(world)
    await assert.rejects(world.given(world.place()), CommitUnknown)
    await world.clock.advance(40_000)
    database.answers()
    await world.clock.advance(2_000)
    const [order] = await world.orders()
    assert.ok(order)
    assert.deepEqual([order.status, order.submission.state, order.submission.attempts], ['rejected', 'not_sent', 0])
    assert.match(order.brokerMessage ?? '', /was not sent.*new cl_order_id/)
    assert.equal(world.broker.sent('submit'), 0)
    assert.deepEqual([world.app.unconfirmed.followed, world.app.resolver.watched], [0, 0])
    const submissionStates = world.published.flatMap(event => (event.topic === 'orders' ? [event.data.submission.state] : []))
    assert.equal(submissionStates.at(-1), 'not_sent')
  })
}

test('a cancel in between changes nothing: the order was not sent', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  const database = silentAfterCommit(world)
  await assert.rejects(world.given(world.place()), CommitUnknown)
  database.answers()
  const [stored] = await world.orders()
  assert.ok(stored)
  await world.given(world.cancel(stored))
  await world.clock.advance(10_000)
  const order = await world.stored(stored)
  assert.deepEqual([order.status, order.submission.state, order.pendingRequest], ['rejected', 'not_sent', null])
  assert.deepEqual([world.broker.sent('submit'), world.broker.sent('cancel')], [0, 0])
})

test('a restart in between changes nothing, and looks the order up', async () => {
  await using world = await bench.world()
  const database = silentAfterCommit(world)
  await assert.rejects(world.given(world.place()), CommitUnknown)
  await world.stop()
  database.answers()
  await world.restart()
  const [order] = await world.orders()
  assert.deepEqual([order?.status, order?.submission.state], ['pending', 'unknown'])
})

test('a change whose intent was stored without confirmation ends as not sent, and the order works on unchanged', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  const database = silentAfterCommit(world)
  await assert.rejects(world.given(world.modify(order, { clOrdId: 'changed', limitPrice: '11.00' })), CommitUnknown)
  await world.clock.advance(20_000)
  database.answers()
  await world.clock.advance(5_000)
  const [before, successor] = [await world.stored(order), (await world.orders()).find(({ orderId }) => orderId !== order.orderId)]
  assert.deepEqual([before.status, before.pendingRequest], ['working', null])
  assert.deepEqual([successor?.status, successor?.submission.state, successor?.submission.attempts], ['rejected', 'not_sent', 0])
  assert.equal(world.broker.sent('replace'), 0)
  assert.deepEqual([world.app.unconfirmed.followed, world.app.resolver.watched], [0, 0])
})

test('a cancel whose commit appears late is sent once', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  let commit = () => Promise.resolve<unknown>(undefined)
  world.watched.intercept = call => {
    if (call.name !== 'orders.record') return call.go()
    world.watched.intercept = null
    commit = call.go
    throw new CommitUnknown('lost at the commit')
  }
  await assert.rejects(world.given(world.cancel(order)), CommitUnknown)
  // The database was slow: several look-ups have found the order unchanged.
  await world.clock.advance(5_000)
  await world.given(commit())
  await world.clock.advance(10_000)
  assert.equal((await world.stored(order)).status, 'cancelled')
  assert.equal(world.broker.sent('cancel'), 1)
})

test('an outcome that could not be written leaves the order unknown, not submitting, even if the broker does not answer', async () => {
  await using world = await bench.world({ capabilities: { deduplication: 'none' } })
  world.broker.streams.down()
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  world.broker.plans.submit.push({ reply: 'unknown', effect: 'none' })
  let nth = 0
  world.watched.intercept = call => {
    if (call.name !== 'orders.record') return call.go()
    nth += 1
    if (nth === 2) throw new StoreUnavailable('no room')
    return call.go()
  }
  const order = await world.given(world.place())
  assert.equal(order.submission.state, 'submitting')
  await world.clock.advance(world.deps.timing.commandMs)
  assert.equal((await world.stored(order)).submission.state, 'unknown')
})

/** The next call with that name happens, and its answer is lost. */
function loseAnswer(world: World, name: string): void {
  world.watched.intercept = async call => {
    if (call.name !== name) return await call.go()
    world.watched.intercept = null
    await call.go()
    throw new CommitUnknown('lost at the commit')
  }
}

function received(world: World): BusMessage['type'][] {
  const types: BusMessage['type'][] = []
  world.deps.bus.subscribe(({ type }) => void types.push(type))
  return types
}

test('a user is deleted and the answer is lost: the user is gone, and the removal is published', async () => {
  await using world = await bench.world()
  const types = received(world)
  loseAnswer(world, 'users.remove')
  await world.given(deleteUser(world.app, world.caller, world.caller.user.userId))
  assert.deepEqual(types, ['connection_removed', 'user_removed'])
})

test('a connection is deleted and the answer is lost: it is gone, and its removal is published', async () => {
  await using world = await bench.world()
  const types = received(world)
  loseAnswer(world, 'connections.remove')
  await world.given(deleteConnection(world.app, world.caller, world.connection.connectionId))
  assert.deepEqual(types, ['connection_removed'])
})

test('a deletion whose commit was lost has no effect', async () => {
  await using world = await bench.world()
  const types = received(world)
  world.watched.intercept = async call => {
    if (call.name === 'users.remove') throw new CommitUnknown('lost before the commit')
    return await call.go()
  }
  await assert.rejects(world.given(deleteUser(world.app, world.caller, world.caller.user.userId)), CommitUnknown)
  assert.deepEqual(types, [])
})

test('a connection breaks and the answer to its record is lost: the next refusal publishes it, once', async () => {
  await using world = await bench.world()
  await world.live()
  const submissionStates: BusMessage[] = []
  world.deps.bus.subscribe(message => void submissionStates.push(message))
  loseAnswer(world, 'connections.markBroken')
  world.broker.reject()
  const states = () => submissionStates.flatMap(message => (message.type === 'connection_health' ? [message.health.state] : []))
  await world.clock.until(() => states().includes('broken'), 'the break is published')
  await world.clock.advance(120_000)
  assert.equal(states().filter(state => state === 'broken').length, 1)
  assert.equal(states().at(-1), 'broken')
  const [stored] = await world.watched.store.connections.listByUser(world.caller.user.userKey, null)
  assert.ok(stored !== undefined)
  assert.deepEqual(world.app.mirrors.health(stored), { state: 'broken', since: stored.updatedAt, reason: stored.brokenReason })
})
