// Users that the sessions of a node follow are mirrored by their owners, and no longer than they are followed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'
import { partitionOf } from '@trunkline/core/domain/partition'
import type { Owner, OwnerNode } from '@trunkline/core/ports/ownership'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { FollowedElsewhere, Following, followedMessage, readFollowed } from '../../src/cluster/following/index.ts'

const [here, there, elsewhere] = ['u-here', 'u-there', 'u-elsewhere'] as const
const node = (name: string): OwnerNode => ({ nodeId: name as NodeId, url: `http://${name}` })
const other = (name: string): Owner => ({ kind: 'other', node: node(name) })

class Holds {
  readonly held = new Map<string, number>()

  hold(userKey: UserKey): void {
    this.held.set(userKey, (this.held.get(userKey) ?? 0) + 1)
  }

  release(userKey: UserKey): void {
    const left = (this.held.get(userKey) ?? 0) - 1
    if (left > 0) this.held.set(userKey, left)
    else this.held.delete(userKey)
  }
}

function scene() {
  const clock = new VirtualClock()
  const owners = new Map<string, Owner>([
    [here, { kind: 'this' }],
    [there, other('b')],
    [elsewhere, other('c')]
  ])
  const sent: string[] = []
  const answers = new Map<string, Promise<void>>()
  const taken: string[] = []
  let changed = Promise.withResolvers<void>()
  let waits = 0
  const watch = new Holds()
  const following = new Following({
    watch,
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    ownership: {
      ownerOf: userKey => owners.get(userKey) ?? { kind: 'none' },
      changed: async ms => {
        waits += 1
        await Promise.race([changed.promise, clock.sleep(ms)])
        waits -= 1
      }
    },
    send: async ({ nodeId }, users) => {
      sent.push(`${nodeId}: ${users.join(' ')}`)
      await answers.get(nodeId)
    },
    taken: users => void taken.push(...users)
  })
  const moved = (userKey: string, owner: Owner) => {
    owners.set(userKey, owner)
    changed.resolve()
    changed = Promise.withResolvers()
  }
  return { clock, watch, following, sent, answers, taken, moved, waits: () => waits }
}

test('an owner is sent the users at once, again at intervals, and an empty list when none is left', async () => {
  const { clock, watch, following, sent } = scene()
  following.start()
  for (const userKey of [here, there, elsewhere]) following.hold(userKey as UserKey)
  await clock.advance(10)
  assert.deepEqual(sent.splice(0), ['b: u-there', 'c: u-elsewhere'])
  assert.deepEqual([...watch.held.keys()], [here, there, elsewhere], 'this node works for them itself should it become their owner')
  following.release(elsewhere as UserKey)
  await clock.advance(5_010)
  assert.deepEqual(sent.splice(0), ['b: u-there', 'c: '])
  await clock.advance(5_010)
  assert.deepEqual(sent.splice(0), ['b: u-there'])
  await following.stop()
})

test('many users who come one after another are waited for once', async () => {
  const { clock, following, sent, waits } = scene()
  following.start()
  for (let count = 0; count < 100; count += 1) {
    following.hold(there as UserKey)
    await clock.advance(1)
    following.release(there as UserKey)
  }
  assert.equal(waits(), 1)
  sent.length = 0
  following.hold(there as UserKey)
  await clock.advance(5_000)
  assert.ok(sent.length >= 2, 'at once and after the interval')
  await following.stop()
})

test('a new owner is sent the users at once', async () => {
  const { clock, following, sent, moved } = scene()
  following.start()
  following.hold(there as UserKey)
  await clock.advance(10)
  sent.length = 0
  moved(there, other('c'))
  await clock.advance(10)
  assert.deepEqual(sent, ['b: ', 'c: u-there'])
  await following.stop()
})

test('a new owner is sent the users at once while the former one does not answer', async () => {
  const { clock, following, sent, answers, moved } = scene()
  const answer = Promise.withResolvers<void>()
  answers.set('b', answer.promise)
  following.start()
  following.hold(there as UserKey)
  await clock.advance(10)
  assert.deepEqual(sent.splice(0), ['b: u-there'])
  moved(there, other('c'))
  await clock.advance(10)
  assert.deepEqual(sent.splice(0), ['c: u-there'])
  answers.clear()
  answer.resolve()
  await clock.advance(10)
  assert.deepEqual(sent.splice(0), ['b: ', 'c: u-there'], 'one list at a time: the former owner is sent the newer one now')
  await clock.advance(5_010)
  assert.deepEqual(sent, ['c: u-there'])
  await following.stop()
})

test('users are reported once their owner has taken them, and again when it may have forgotten them', async () => {
  const { clock, following, answers, taken, moved } = scene()
  const answer = Promise.withResolvers<void>()
  answers.set('b', answer.promise)
  following.start()
  for (const userKey of [here, there, elsewhere]) following.hold(userKey as UserKey)
  await clock.advance(10)
  assert.deepEqual(taken.splice(0), [elsewhere], 'node b has yet to answer')
  answer.resolve()
  await clock.advance(5_010)
  assert.deepEqual(taken.splice(0), [there])
  const failure = Promise.withResolvers<void>()
  answers.set('b', failure.promise)
  await clock.advance(5_010)
  failure.reject(new Error('no answer'))
  answers.delete('b')
  await clock.advance(5_010)
  assert.deepEqual(taken.splice(0), [there])
  moved(there, other('c'))
  await clock.advance(10)
  assert.deepEqual(taken.splice(0), [there], 'another owner')
  moved(there, other('b'))
  await clock.advance(10)
  assert.deepEqual(taken, [there], 'node b was sent meanwhile that nobody follows the user')
  await following.stop()
})

test('an owner knows who is not followed elsewhere, once other nodes have had time to send it whom they follow', async () => {
  const clock = new VirtualClock()
  const followed = new FollowedElsewhere(new Holds(), clock)
  const [user, another] = ['0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71', '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a72'] as UserKey[]
  assert.ok(user !== undefined && another !== undefined)
  assert.equal(followed.mayFollow(user), true, 'nobody has said that this node owns it')
  followed.gained(new Set([partitionOf(user), partitionOf(another)]))
  await clock.advance(14_000)
  assert.equal(followed.mayFollow(user), true)
  followed.replace('b' as NodeId, [user])
  followed.replace('c' as NodeId, [user])
  await clock.advance(2_000)
  assert.deepEqual([followed.mayFollow(user), followed.mayFollow(another)], [true, false])
  followed.replace('c' as NodeId, [])
  assert.equal(followed.mayFollow(user), true)
  followed.replace('b' as NodeId, [another])
  assert.deepEqual([followed.mayFollow(user), followed.mayFollow(another)], [false, true])
  followed.gained(new Set([partitionOf(user)]))
  assert.equal(followed.mayFollow(user), true, 'it was another node’s meanwhile')
  followed.stop()
})

test('users followed elsewhere are held until they are released, or their node sends nothing any more', async () => {
  const clock = new VirtualClock()
  const watch = new Holds()
  const followed = new FollowedElsewhere(watch, clock)
  followed.replace('b' as NodeId, [here as UserKey, there as UserKey])
  followed.replace('c' as NodeId, [there as UserKey])
  assert.deepEqual(
    [...watch.held],
    [
      [here, 1],
      [there, 2]
    ]
  )
  followed.replace('b' as NodeId, [there as UserKey])
  assert.deepEqual([...watch.held], [[there, 2]])
  await clock.advance(10_000)
  followed.replace('c' as NodeId, [there as UserKey])
  await clock.advance(10_000)
  assert.deepEqual([...watch.held], [[there, 1]], 'node b sent nothing for 20 seconds')
  followed.stop()
  assert.equal(watch.held.size, 0)
  // The listener closes later.
  followed.replace('b' as NodeId, [there as UserKey])
  assert.equal(watch.held.size, 0)
})

test('the message between nodes is read strictly', () => {
  const message = { nodeId: '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71' as NodeId, users: ['0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a72' as UserKey] }
  assert.deepEqual(readFollowed(JSON.parse(JSON.stringify(followedMessage(message)))), message)
  const wrong = [null, [], {}, { node_id: message.nodeId }, { node_id: 'a', users: [] }, { node_id: message.nodeId, users: [7] }]
  for (const each of wrong) assert.throws(() => readFollowed(each), Malformed)
})

test('a user who is followed again is reported again, although its owner was sent no list without it', async () => {
  const { clock, following, sent, taken } = scene()
  following.start()
  following.hold(there as UserKey)
  await clock.advance(10)
  following.release(there as UserKey)
  following.hold(there as UserKey)
  await clock.advance(10)
  assert.deepEqual(sent, ['b: u-there', 'b: u-there'])
  assert.deepEqual(taken, [there, there])
  await following.stop()
})
