// Removals: the orders of a connection or a user that is removed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { deleteConnection } from '@trunkline/core/app/connections/delete-connection'
import { REMOVAL_WAITS_MS } from '@trunkline/core/app/connections/removals'
import { deleteUser } from '@trunkline/core/app/users/users'
import type { Order } from '@trunkline/core/domain/order'
import type { AuditEntry } from '@trunkline/core/ports/store'
import { Bench, type World } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const REMOVALS = [
  ['connection', (world: World) => deleteConnection(world.app, world.caller, world.connection.connectionId)],
  ['user', (world: World) => deleteUser(world.app, world.caller, world.caller.user.userId)]
] as const

async function audit(target: string, ...actions: readonly string[]): Promise<readonly AuditEntry[]> {
  return (await bench.store.audit.list(10_000)).filter(entry => entry.target === target && actions.includes(entry.action))
}

async function detailOf(world: World): Promise<AuditEntry['detail'] | undefined> {
  const { connection, caller } = world
  const entries = await Promise.all([audit(connection.connectionId, 'connection.delete'), audit(caller.user.userKey, 'user.delete')])
  return entries.flat()[0]?.detail
}

function alarms(world: World): number {
  return world.counted.get(`order_alarms_total ${world.broker.capabilities.id} abandoned`) ?? 0
}

for (const [what, remove] of REMOVALS) {
  test(`the ${what} is removed while an order is in transit, after the broker’s answer`, async () => {
    await using world = await bench.world()
    world.broker.streams.down()
    const open = await world.given(world.place())
    world.broker.plans.submit.push({ effectAfterMs: 2_500 })
    const placing = world.place()
    await world.clock.advance(600)
    const removing = remove(world)
    await world.clock.advance(100)
    await assert.rejects(world.place(), /is being removed/)
    await assert.rejects(world.modify(open, { clOrdId: 'm-late', limitPrice: '11' }), /is being removed/)
    assert.equal((await world.given(placing)).status, 'working')
    await world.given(removing)
    assert.deepEqual(
      [await detailOf(world), alarms(world), world.broker.sent('submit')],
      [{ ...(await detailOf(world)), open_orders: 2, abandoned_orders: 0 }, 0, 2]
    )
  })

  test(`the ${what} is removed while an order’s answer is lost, after a look-up of the order`, async () => {
    await using world = await bench.world()
    world.broker.streams.down()
    world.broker.plans.submit.push({ reply: 'unknown' })
    const order = await world.given(world.place())
    assert.equal(order.submission.state, 'unknown')
    await world.given(remove(world))
    assert.deepEqual([(await detailOf(world))?.abandoned_orders, alarms(world)], [0, 0])
  })

  test(`the ${what} is removed although the broker does not answer: the order is reported, and so is a late answer`, async () => {
    await using world = await bench.world()
    world.broker.streams.down()
    world.broker.plans.submit.push({ effectAfterMs: 20_000 })
    const placing = world.place()
    await world.clock.advance(100)
    const start = world.clock.monotonicMs()
    await world.given(remove(world))
    assert.ok(world.clock.monotonicMs() - start <= REMOVAL_WAITS_MS + 1_000, 'a removal does not hang')
    const { orderId, clOrdId } = await placing
    const [named] = await audit(orderId, 'order.abandoned')
    const { accountNumber } = world.account
    const facts = { cl_order_id: clOrdId, account_number: accountNumber, submission: 'submitting', symbol: 'SPY', quantity: '10' }
    assert.deepEqual({ ...named?.detail, ...facts }, named?.detail)
    assert.deepEqual([(await detailOf(world))?.abandoned_orders, alarms(world)], [1, 1])
    assert.equal(world.logged.filter(({ message, fields }) => message.startsWith('ALARM') && fields.orderId === orderId).length, 1)
    await world.clock.advance(30_000)
    const [late] = await audit(orderId, 'order.answered_late')
    assert.equal(late?.detail.broker_order_id, world.ledger.list()[0]?.brokerOrderId)
  })

  test(`the ${what} is removed while a cancel is in transit, after the broker accepts it`, async () => {
    await using world = await bench.world()
    world.broker.streams.down()
    const order = await world.given(world.place())
    world.broker.plans.cancel.push({ effectAfterMs: 2_500 })
    const cancelling = world.cancel(order)
    await world.clock.advance(100)
    await world.given(remove(world))
    await world.given(cancelling)
    assert.deepEqual([(await detailOf(world))?.abandoned_orders, world.ledger.list()[0]?.status], [0, 'cancelled'])
  })

  test(`the ${what} is removed while the outcome of a replacement is unknown: both of its orders are reported`, async () => {
    await using world = await bench.world()
    world.broker.streams.down()
    const order = await world.given(world.place())
    world.broker.plans.replace.push({ reply: 'never' })
    const modifying = world.modify(order, { clOrdId: 'm-1', limitPrice: '11' })
    await world.clock.advance(100)
    world.broker.reject()
    await world.given(remove(world))
    const successor: Order = await modifying
    const named = await Promise.all([audit(order.orderId, 'order.abandoned'), audit(successor.orderId, 'order.abandoned')])
    assert.deepEqual([named.map(entries => entries.length), alarms(world)], [[1, 1], 2])
  })
}

test('orders that work at the broker are counted and left there, and a removal does not wait for them', async () => {
  await using world = await bench.world()
  await world.given(world.place())
  await world.given(world.place())
  const start = world.clock.monotonicMs()
  await world.given(deleteConnection(world.app, world.caller, world.connection.connectionId))
  assert.ok(world.clock.monotonicMs() - start < REMOVAL_WAITS_MS)
  assert.deepEqual([(await detailOf(world))?.open_orders, world.broker.sent('cancel')], [2, 0])
})

test('a broken connection is removed at once, because its orders can no longer be looked up', async () => {
  await using world = await bench.world()
  world.broker.streams.down()
  world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
  const order = await world.given(world.place())
  world.broker.reject()
  await world.clock.advance(5_000)
  const start = world.clock.monotonicMs()
  await world.given(deleteConnection(world.app, world.caller, world.connection.connectionId))
  assert.ok(world.clock.monotonicMs() - start < REMOVAL_WAITS_MS)
  assert.deepEqual([(await audit(order.orderId, 'order.abandoned')).length, alarms(world)], [1, 1])
})

test('a removal that fails leaves the connection unchanged: it accepts orders again', async () => {
  await using world = await bench.world()
  world.watched.intercept = async call => {
    if (call.name === 'connections.remove') throw new Error('the store is down')
    return await call.go()
  }
  await assert.rejects(world.given(deleteConnection(world.app, world.caller, world.connection.connectionId)), /the store is down/)
  world.watched.intercept = null
  assert.equal((await world.given(world.place())).status, 'working')
})
