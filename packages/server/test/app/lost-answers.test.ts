// Ends that were written although their answer was lost: whoever must know of them is told all the same.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { deleteConnection } from '@trunkline/core/app/connections/delete-connection'
import { deleteUser } from '@trunkline/core/app/users/delete-user'
import type { BusMessage } from '@trunkline/core/ports/bus'
import { CommitUnknown } from '@trunkline/core/ports/store'
import { Bench, type World } from './bench.ts'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

/** The next call of that name happens, and its answer is lost. */
function loseAnswer(world: World, name: string): void {
  world.watched.intercept = async call => {
    if (call.name !== name) return await call.go()
    world.watched.intercept = null
    await call.go()
    throw new CommitUnknown('lost at the commit')
  }
}

function heard(world: World): BusMessage['type'][] {
  const types: BusMessage['type'][] = []
  world.deps.bus.subscribe(({ type }) => void types.push(type))
  return types
}

test('a user is deleted and the answer is lost: it is gone, and everybody hears of it', async () => {
  await using world = await bench.world()
  const types = heard(world)
  loseAnswer(world, 'users.remove')
  await world.given(deleteUser(world.app, world.caller, world.caller.user.userId))
  assert.deepEqual(types, ['connection_removed', 'user_removed'])
})

test('a connection is deleted and the answer is lost: it is gone, and everybody hears of it', async () => {
  await using world = await bench.world()
  const types = heard(world)
  loseAnswer(world, 'connections.remove')
  await world.given(deleteConnection(world.app, world.caller, world.connection.connectionId))
  assert.deepEqual(types, ['connection_removed'])
})

test('a deletion that was lost itself is no deletion', async () => {
  await using world = await bench.world()
  const types = heard(world)
  world.watched.intercept = async call => {
    if (call.name === 'users.remove') throw new CommitUnknown('lost before the commit')
    return await call.go()
  }
  await assert.rejects(world.given(deleteUser(world.app, world.caller, world.caller.user.userId)), CommitUnknown)
  assert.deepEqual(types, [])
})

test('a connection breaks and the answer to noting it is lost: the next refusal tells it, once', async () => {
  await using world = await bench.world()
  await world.live()
  const told: BusMessage[] = []
  world.deps.bus.subscribe(message => void told.push(message))
  loseAnswer(world, 'connections.markBroken')
  world.broker.reject()
  const states = () => told.flatMap(message => (message.type === 'connection_health' ? [message.health.state] : []))
  await world.clock.until(() => states().includes('broken'), 'the break is told')
  await world.clock.advance(120_000)
  assert.equal(states().filter(state => state === 'broken').length, 1)
  assert.equal(states().at(-1), 'broken')
  const [stored] = await world.watched.store.connections.listByUser(world.caller.user.userKey, null)
  assert.ok(stored !== undefined)
  assert.deepEqual(world.app.mirrors.health(stored), { state: 'broken', since: stored.updatedAt, reason: stored.brokenReason })
})
