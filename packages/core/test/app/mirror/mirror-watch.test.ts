// Watched users: all their active connections are mirrored while there is a listener, and not much longer.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sealCredentials } from '@trunkline/core/app/broker-access/credentials'
import { deleteConnection } from '@trunkline/core/app/connections/delete-connection'
import { deleteUser } from '@trunkline/core/app/users/users'
import type { Connection } from '@trunkline/core/domain/account'
import type { UserKey } from '@trunkline/core/domain/ids'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { Bench, type World } from '@trunkline/testkit/bench'
import * as make from '@trunkline/testkit/store-contract/records'
import { until } from '@trunkline/testkit/until'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

/** Another connection of the world's user. */
async function connected(world: World): Promise<Connection> {
  const { connection } = await make.connected(bench.store, world.caller.user)
  const sealed = sealCredentials(world.deps.vault, connection, { credentials: { token: 't-2' }, endpoint: make.ENDPOINT }, 2)
  await bench.store.connections.replaceCredentials(connection.connectionId, 1, sealed)
  return connection
}

function announce(world: World, { userKey, connectionId }: Connection): void {
  world.deps.bus.publish({ type: 'connection_changed', userKey, connectionId })
}

async function quiet(world: World): Promise<World> {
  await world.given(world.app.ownedWork.start())
  return world
}

test('a watched user’s connections are followed until a while after the last listener left', async () => {
  await using world = await quiet(await bench.world())
  const other = await connected(world)
  const { userKey } = world.caller.user
  world.app.watch.hold(userKey)
  world.app.watch.hold(userKey)
  await world.clock.advance(600_000)
  assert.deepEqual([world.app.mirrors.count, world.app.mirrors.countOf('live')], [2, 2])
  world.app.watch.release(userKey)
  await world.clock.advance(600_000)
  assert.equal(world.app.mirrors.count, 2)
  world.app.watch.release(userKey)
  await world.clock.advance(60_000)
  assert.equal(world.app.mirrors.count, 2, 'they stay for one who comes back')
  world.app.watch.hold(userKey)
  await world.clock.advance(600_000)
  assert.deepEqual([world.app.mirrors.countOf('live'), world.broker.streams.readers], [2, 2])
  world.app.watch.release(userKey)
  await world.clock.advance(200_000)
  assert.deepEqual([world.app.mirrors.count, world.broker.streams.readers, world.app.watch.count], [0, 0, 0])
  assert.match(world.app.mirrors.health(other).reason ?? '', /is not followed/)
})

test('a connection made meanwhile is followed at once', async () => {
  await using world = await bench.world()
  world.app.watch.hold(world.caller.user.userKey)
  await world.clock.settled()
  assert.equal(world.app.mirrors.countOf('live'), 1)
  const made = await connected(world)
  announce(world, made)
  await world.clock.settled()
  assert.deepEqual([world.app.mirrors.countOf('live'), world.app.mirrors.health(made).state], [2, 'live'])
  // From another node the message comes in two ways.
  const states: string[] = []
  world.deps.bus.subscribe(message => void (message.type === 'connection_health' && states.push(message.health.state)))
  const { changes } = world.app.mirrors.knownHealth
  announce(world, made)
  announce(world, made)
  await world.clock.settled()
  assert.deepEqual([states, world.app.mirrors.knownHealth.changes, world.broker.streams.readers], [[], changes, 2], 'nothing begins again')
})

test('a connection that is removed or broken is released, and the others stay', async () => {
  await using world = await quiet(await bench.world())
  const [removed, broken] = [await connected(world), await connected(world)]
  world.app.watch.hold(world.caller.user.userKey)
  await world.clock.settled()
  assert.equal(world.app.mirrors.countOf('live'), 3)
  await world.given(deleteConnection(world.app, world.caller, removed.connectionId))
  await world.clock.settled()
  assert.equal(world.app.mirrors.count, 2)
  await world.given(world.app.mirrors.failed(broken, new BrokerFault('credentials_rejected', 'gone')))
  await world.clock.settled()
  assert.deepEqual([world.app.mirrors.count, world.app.mirrors.health(broken).state], [1, 'broken'])
  await world.clock.advance(600_000)
  assert.deepEqual([world.app.mirrors.count, world.broker.streams.readers], [1, 1])
  await world.given(deleteUser(world.app, world.caller, world.caller.user.userId))
  await world.clock.advance(600_000)
  assert.deepEqual([world.app.mirrors.count, world.broker.streams.readers], [0, 0])
  world.app.watch.release(world.caller.user.userKey)
  assert.equal(world.app.watch.count, 0)
})

test('a connection that changes while its user’s connections are being read is not missed', async () => {
  await using world = await bench.world()
  const gate = Promise.withResolvers<void>()
  let made: Connection | null = null
  world.watched.intercept = async call => {
    const result = await call.go()
    if (call.name !== 'connections.listByUser' || made !== null) return result
    made = await connected(world)
    announce(world, made)
    await gate.promise
    return result
  }
  world.app.watch.hold(world.caller.user.userKey)
  await until(() => made !== null, 'it is made')
  assert.equal(world.app.mirrors.count, 0)
  gate.resolve()
  await world.clock.settled()
  assert.equal(world.app.mirrors.countOf('live'), 2)
})

test('a user that is released while its connections are being read is not followed, and can be held again', async () => {
  await using world = await bench.world()
  const { userKey } = world.caller.user
  const gate = Promise.withResolvers<void>()
  world.watched.intercept = async call => {
    const result = await call.go()
    if (call.name === 'connections.listByUser') await gate.promise
    return result
  }
  world.app.watch.hold(userKey)
  await world.clock.settled()
  world.app.watch.release(userKey)
  gate.resolve()
  await world.clock.settled()
  assert.deepEqual([world.app.mirrors.count, world.app.watch.count], [0, 0])
  world.watched.intercept = null
  world.app.watch.hold(userKey)
  await world.clock.settled()
  assert.equal(world.app.mirrors.countOf('live'), 1)
})

test('a store that fails is read again, after growing pauses', async () => {
  await using world = await bench.world()
  const calledMs: number[] = []
  world.watched.intercept = call => {
    if (call.name !== 'connections.listByUser' || calledMs.length >= 8) return call.go()
    calledMs.push(world.clock.monotonicMs())
    return Promise.reject(new StoreUnavailable('no room'))
  }
  world.app.watch.hold(world.caller.user.userKey)
  await world.clock.until(() => world.app.mirrors.countOf('live') === 1, 'it is followed')
  const pauses = calledMs.slice(1).map((atMs, index) => atMs - (calledMs[index] ?? 0))
  assert.deepEqual(pauses, [188, 375, 750, 1_500, 3_000, 6_000, 7_500])
})

test('of a thousand users at once, sixteen are read at a time', async () => {
  await using world = await bench.world()
  let [running, most, total] = [0, 0, 0]
  world.watched.intercept = async call => {
    if (call.name !== 'connections.listByUser') return await call.go()
    running += 1
    total += 1
    most = Math.max(most, running)
    await new Promise<void>(resolve => setImmediate(resolve))
    running -= 1
    return []
  }
  const users = Array.from({ length: 1_000 }, () => make.uuid<UserKey>())
  for (const userKey of users) world.app.watch.hold(userKey)
  await until(() => total === 1_000 && running === 0, 'all were asked about')
  assert.equal(most, 16)
  for (const userKey of users) world.app.watch.release(userKey)
  assert.deepEqual([world.app.watch.count, total], [0, 1_000])
})

test('logins without followers and requests are closed after a while, and opened again on request', async () => {
  await using world = await quiet(await bench.world())
  const freshen = () => world.given(world.app.mirrors.freshen([world.connection], world.accounts, 'balances'))
  await freshen()
  assert.deepEqual([world.app.mirrors.sessions, world.broker.sessions], [1, 1])
  await world.clock.advance(700_000)
  assert.equal(world.app.mirrors.sessions, 0)
  assert.equal((await freshen()).size, 0)
  assert.deepEqual([world.app.mirrors.sessions, world.broker.sessions], [1, 2])
  world.app.mirrors.hold(world.connection)
  await world.clock.advance(3_600_000)
  assert.deepEqual([world.app.mirrors.sessions, world.broker.sessions, world.health.state], [1, 2, 'live'])
})
