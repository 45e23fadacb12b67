// Removals: a connection or a user goes while something of theirs is under way.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sealCredentials } from '@trunkline/core/app/connections/credentials'
import { deleteConnection } from '@trunkline/core/app/connections/delete-connection'
import { deleteUser } from '@trunkline/core/app/users/delete-user'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { ENDPOINT } from '@trunkline/testkit/store-contract/records'
import { Bench, type World } from './bench.ts'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const REMOVALS = [
  ['connection', (world: World) => deleteConnection(world.app, world.caller, world.connection.connectionId)],
  ['user', (world: World) => deleteUser(world.app, world.caller, world.caller.user.userId)]
] as const

for (const [what, remove] of REMOVALS) {
  test(`the ${what} is removed while an order is on its way: nothing of it is left running`, async () => {
    await using world = await bench.world()
    await world.live()
    world.broker.plans.submit.push({ replyAfterMs: 3_000 })
    const placing = world.place()
    await world.clock.advance(100)
    await world.given(remove(world))
    await world.given(placing)
    assert.deepEqual(await world.orders(), [])
    await world.clock.advance(400_000)
    assert.deepEqual([world.app.resolver.watched, world.broker.streams.readers, world.broker.sessions], [0, 0, 1])
    assert.deepEqual(await world.orders(), [])
  })

  test(`the ${what} is removed while an order is looked up: the looking ends`, async () => {
    await using world = await bench.world()
    world.broker.streams.down()
    world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
    await world.given(world.place())
    assert.equal(world.app.resolver.watched, 1)
    await world.given(remove(world))
    const looked = world.broker.reads.findOrder
    await world.clock.advance(60_000)
    assert.deepEqual([world.app.resolver.watched, world.broker.reads.findOrder, world.broker.sessions], [0, looked, 1])
  })

  test(`the ${what} is removed between an order’s check and its writing: it is neither written nor sent`, async () => {
    await using world = await bench.world()
    let isRemoved = false
    world.watched.intercept = async call => {
      if (call.name === 'orders.record' && !isRemoved) {
        isRemoved = true
        await remove(world)
      }
      return await call.go()
    }
    await assert.rejects(world.given(world.place()), /removed by another request/)
    assert.equal(world.broker.sent('submit'), 0)
  })

  test(`the ${what} is removed between an order’s writing and its sending: it is not sent`, async () => {
    await using world = await bench.world()
    await world.given(world.app.mirrors.start())
    let isRemoved = false
    world.watched.intercept = async call => {
      const result = await call.go()
      if (call.name === 'orders.record' && !isRemoved) {
        isRemoved = true
        await remove(world)
      }
      return result
    }
    await world.given(world.place())
    await world.clock.advance(400_000)
    assert.deepEqual([world.broker.sent('submit'), world.app.resolver.watched, world.app.mirrors.count], [0, 0, 0])
  })

  test(`a mirror ends with its ${what}`, async () => {
    await using world = await bench.world()
    await world.live()
    await world.given(remove(world))
    await world.clock.settled()
    assert.deepEqual([world.app.mirrors.count, world.broker.streams.readers], [0, 0])
  })
}

test('the login of a removed connection is revoked, again and again until that worked, whatever the others do [S23]', async () => {
  await using stuck = await bench.world()
  await using world = await bench.world()
  const asked: string[] = []
  world.broker.revoke = async ({ token = '' }) => {
    asked.push(token)
    if (token === 'stuck') throw new TypeError('an adapter’s mistake')
    if (asked.filter(known => known === token).length < 3) throw new BrokerFault('unreachable', 'down')
  }
  for (const [token, its] of [
    ['stuck', stuck],
    ['ours', world]
  ] as const) {
    const { connectionId } = its.connection
    await bench.store.connections.replaceCredentials(
      connectionId,
      2,
      sealCredentials(its.deps.vault, its.connection, { credentials: { token }, endpoint: ENDPOINT }, 3)
    )
    await its.given(deleteConnection(its.app, its.caller, connectionId))
    await world.clock.advance(1_000)
  }
  world.parts.revocations.start()
  await world.clock.advance(600_000)
  assert.equal(asked.filter(token => token === 'ours').length, 3)
  assert.ok(asked.filter(token => token === 'stuck').length > 3)
})
