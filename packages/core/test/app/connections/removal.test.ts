// Removals: a connection or a user is removed while work for it is in progress.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sealCredentials } from '@trunkline/core/app/broker-access/credentials'
import { mayEndAnother } from '@trunkline/core/app/broker-access/shared-login'
import { deleteConnection } from '@trunkline/core/app/connections/delete-connection'
import { Revocations } from '@trunkline/core/app/connections/revocations'
import { deleteUser } from '@trunkline/core/app/users/users'
import type { Connection } from '@trunkline/core/domain/account'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { Bench, type World } from '@trunkline/testkit/bench'
import * as make from '@trunkline/testkit/store-contract/records'

const { ENDPOINT } = make

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
  test(`the ${what} is removed while an order is in transit: no work for it continues`, async () => {
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

  test(`the ${what} is removed while an order is looked up: the look-up ends`, async () => {
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

  test(`the ${what} is removed between the check and the write of an order, which is neither written nor sent`, async () => {
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

  test(`the ${what} is removed between the write and the sending of an order, which is not sent`, async () => {
    await using world = await bench.world()
    await world.given(world.app.ownedWork.start())
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

test('the login of a removed connection is revoked, with retries until that works, independently of the others [S23]', async () => {
  const options = { capabilities: { revocation: 'grant' } } as const
  await using stuck = await bench.world(options)
  await using world = await bench.world(options)
  const revoked: string[] = []
  world.broker.revoke = async ({ token = '' }) => {
    revoked.push(token)
    if (token === 'stuck') throw new TypeError('an adapter’s mistake')
    if (revoked.filter(known => known === token).length < 3) throw new BrokerFault('unreachable', 'down')
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
  assert.equal(revoked.filter(token => token === 'ours').length, 3)
  assert.ok(revoked.filter(token => token === 'stuck').length > 3)
})

test('a login of a broker that is not offered now stays due for revocation, and is revoked once the broker is offered again', async () => {
  await using world = await bench.world({ capabilities: { revocation: 'grant' } })
  const connection = await linked(world, 'left', ['left-1'])
  await world.given(deleteConnection(world.app, world.caller, connection.connectionId))
  const without = new Revocations({ ...world.deps, brokers: new Map() })
  without.start()
  await world.clock.advance(600_000)
  await without.stop()
  assert.ok((await revoking(world)(3_700_000)).includes('left'))
})

/** Another connection of the user, or one that waits a minute for its claim, with the login `token` and these accounts. */
async function linked(world: World, token: string, numbers: readonly string[], isUnclaimed = false): Promise<Connection> {
  const { user } = world.caller
  const [attempt, connection] = [make.attempt(user), { ...make.connection(user), broker: world.broker.capabilities.id }]
  await bench.store.attempts.create(attempt, make.hash(), make.audit())
  await bench.store.connections.create(
    connection,
    numbers.map(number => make.account(connection, number)),
    sealCredentials(world.deps.vault, connection, { credentials: { token }, endpoint: ENDPOINT }, 1),
    attempt.attemptId,
    make.audit(),
    isUnclaimed ? { codeHash: make.hash(), expiresAt: timestampOfMs(epochMs(world.clock.now()) + 60_000) } : undefined
  )
  return connection
}

/** Records the revoked logins, and waits for those that are due. */
function revoking(world: World) {
  const revoked: string[] = []
  world.broker.revoke = async ({ token = '' }) => void revoked.push(token)
  world.parts.revocations.start()
  return async (ms = 30_000) => {
    await world.clock.advance(ms)
    const due = await bench.store.connections.dueRevocations(timestampOfMs(epochMs(world.clock.now()) + 3_600_000), 1_000)
    assert.deepEqual(
      due.filter(({ userKey }) => userKey === world.caller.user.userKey),
      [],
      'nothing of the login is kept'
    )
    return revoked
  }
}

test('if a revocation ends every login of a customer, it is done with the last connection of a login, and not before', async () => {
  await using world = await bench.world()
  await using neighbour = await bench.world()
  const revoked = revoking(world)
  const first = await linked(world, 'first', ['shared-1', 'shared-2'])
  const [second, other] = [await linked(neighbour, 'second', ['shared-2']), await linked(world, 'other', ['own-1'])]
  await world.given(deleteConnection(world.app, world.caller, first.connectionId))
  assert.deepEqual(await revoked(), [], 'another user’s connection lives on the same login')
  await world.given(deleteConnection(world.app, world.caller, other.connectionId))
  assert.deepEqual(await revoked(), ['other'])
  await world.given(deleteConnection(neighbour.app, neighbour.caller, second.connectionId))
  assert.deepEqual(await revoked(), ['other', 'second'])
  assert.equal(world.counted.get(`revocations_total ${world.broker.capabilities.id} shared`), 1)
})

test('an unclaimed login is not revoked while a connection uses it, and one that waits for its claim keeps the login valid', async () => {
  await using world = await bench.world()
  const revoked = revoking(world)
  const lasting = await linked(world, 'lasting', ['claimed-1'])
  await linked(world, 'lapsed', ['claimed-1'], true)
  assert.deepEqual(await revoked(90_000), [])
  const waiting = await linked(world, 'waiting', ['claimed-1'], true)
  await world.given(deleteConnection(world.app, world.caller, lasting.connectionId))
  assert.deepEqual(await revoked(), [])
  assert.notEqual(await bench.store.connections.findUnclaimed(waiting.connectionId), null)
  assert.deepEqual(await revoked(90_000), ['waiting'])
})

test('deleting a user revokes the logins of all its connections', async () => {
  await using world = await bench.world()
  const revoked = revoking(world)
  for (const token of ['one', 'two']) await linked(world, token, ['gone-1'])
  await linked(world, 'three', ['gone-1'], true)
  await world.given(deleteUser(world.app, world.caller, world.caller.user.userId))
  assert.deepEqual((await revoked()).filter(token => token !== 't-1').toSorted(), ['one', 'three', 'two'])
})

test('if a revocation ends only one login, each is revoked, whatever other logins exist at the broker', async () => {
  await using world = await bench.world({ capabilities: { revocation: 'grant' } })
  const revoked = revoking(world)
  const [first] = [await linked(world, 'first', ['alone-1']), await linked(world, 'second', ['alone-1'])]
  await linked(world, 'lapsed', ['alone-1'], true)
  await world.given(deleteConnection(world.app, world.caller, first.connectionId))
  assert.deepEqual(await revoked(90_000), ['first', 'lapsed'])
})

test('a login with unknown accounts is not revoked if that could end others', async () => {
  await using world = await bench.world()
  const { definition } = world.broker
  assert.equal(await mayEndAnother(bench.store, definition, null), true)
  assert.equal(await mayEndAnother(bench.store, definition, ['nobody’s']), false)
  const alone = { capabilities: { ...definition.capabilities, revocation: 'grant' } } as const
  assert.equal(await mayEndAnother(bench.store, alone, null), false)
})
