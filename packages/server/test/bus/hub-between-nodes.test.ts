/** The hubs of two nodes over a real nats-server and one log: sessions see the same, whatever NATS does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partitionOf } from '@trunkline/core/domain/partition'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import { SeededChance } from '@trunkline/testkit/chance'
import { NatsServer } from '@trunkline/testkit/nats/index'
import { until } from '@trunkline/testkit/until'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import type { NatsBus } from '../../src/bus/nats-bus.ts'
import { ALL_TOPICS, type Feed, type Subscriber } from '../../src/stream/account/feed.ts'
import { Hub } from '../../src/stream/account/hub.ts'
import { ALEX, EventLog } from '../stream/event-log.ts'
import { encode, natsBus, settled, startNode } from './stage.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const findUser = async () => ALEX

/** A session's view: what it was sent, in order. */
class Session implements Subscriber {
  readonly topics = ALL_TOPICS
  readonly seqs: number[] = []
  readonly frames: string[] = []

  update(_feed: Feed, seq: number, frame: Uint8Array): void {
    this.seqs.push(seq)
    this.frames.push(Buffer.from(frame).toString('latin1'))
  }

  status(): void {}
  isOver = false

  removed(): void {
    this.isOver = true
  }
}

/** The log, and whether its user is disabled. */
class Log extends EventLog {
  isDisabled = false
}

function hubOn(bus: NatsBus, log: Log) {
  const clock = new VirtualClock()
  const watch = { hold() {}, release() {} }
  const hub = new Hub({
    events: log,
    bus,
    clock,
    log: quiet,
    watch,
    encode,
    unreliable: { users: { enabledOf: async keys => new Set(keys.filter(() => !log.isDisabled)) } }
  })
  return { hub, clock, [Symbol.asyncDispose]: () => hub.stop() }
}

async function subscribed(hub: Hub): Promise<Session> {
  const session = new Session()
  hub.attach(await hub.join(ALEX), session)
  return session
}

const publish = (bus: NatsBus, events: readonly LoggedEvent[]) => bus.publish({ type: 'events', userKey: ALEX.userKey, events })
const expected = (log: EventLog, after = 0) => ({
  seqs: log.events.slice(after).map(({ seq }) => seq),
  frames: log.events.slice(after).map(event => Buffer.from(encode(event, ALEX.userId)).toString('latin1'))
})

test('sessions on another node get what the owner publishes: in order, without a gap, and in the same bytes', async () => {
  await using server = await NatsServer.start()
  const log = new Log()
  await using owner = await startNode(server, {}, { findUser })
  await using other = await startNode(server, {}, { findUser })
  await using here = hubOn(owner.bus, log)
  await using there = hubOn(other.bus, log)
  const sessions = [await subscribed(here.hub), await subscribed(there.hub)]
  await settled([owner, other])
  const chance = new SeededChance(7)
  for (let round = 0; round < 100; round += 1) {
    const events = [...log.write(1 + chance.whole(0, 4))]
    // Commits of one user return in any order.
    if (chance.whole(0, 1) === 1) events.reverse()
    publish(owner.bus, events)
    if (chance.whole(0, 9) === 0) await settled([owner, other])
  }
  await settled([owner, other])
  await here.clock.advance(100)
  await there.clock.advance(100)
  for (const { seqs, frames } of sessions) assert.deepEqual({ seqs, frames }, expected(log))
})

test('whatever NATS loses comes from the log, at most two seconds later, and in the same bytes', async () => {
  await using server = await NatsServer.start()
  const log = new Log()
  await using owner = await startNode(server, {}, { findUser })
  await using other = await startNode(server, {}, { findUser })
  await using there = hubOn(other.bus, log)
  const session = await subscribed(there.hub)
  await settled([owner, other])
  publish(owner.bus, log.write(3))
  await settled([owner, other])
  await server.kill()
  await until(() => !owner.bus.isConnected && !other.bus.isConnected, 'both noticed')
  publish(owner.bus, log.write(700))
  await there.clock.advance(2_000)
  assert.deepEqual({ seqs: session.seqs, frames: session.frames }, expected(log))
  // Once it is back, nothing waits for the next check.
  publish(owner.bus, log.write(1))
  const followed = new Promise(resolve => other.bus.subscribe(resolve, ['partitions_followed']))
  await server.restart()
  await followed
  await there.clock.advance(30)
  await until(() => session.seqs.length === log.events.length, 'the log was read')
  publish(owner.bus, log.write(5))
  await settled([owner, other])
  publish(owner.bus, log.write(5))
  await until(() => owner.bus.isConnected && other.bus.isConnected, 'both were connected')
  await settled([owner, other])
  await there.clock.advance(2_000)
  assert.deepEqual({ seqs: session.seqs, frames: session.frames }, expected(log))
})

test('an update without a frame is read from the log at once', async () => {
  await using server = await NatsServer.start()
  const log = new Log()
  await using owner = await startNode(server, {}, { findUser: async () => null })
  await using other = await startNode(server, {}, { findUser })
  await using there = hubOn(other.bus, log)
  const session = await subscribed(there.hub)
  await settled([owner, other])
  publish(owner.bus, log.write(2))
  await settled([owner, other])
  await there.clock.advance(30)
  assert.deepEqual({ seqs: session.seqs, frames: session.frames }, expected(log))
})

test('what is published between the position of a feed and its subscription is found when the server has confirmed that', async () => {
  await using server = await NatsServer.start()
  const log = new Log()
  log.write(1)
  await using owner = await startNode(server, {}, { findUser })
  await using bus = natsBus(server, {}, { findUser })
  await using there = hubOn(bus, log)
  const session = await subscribed(there.hub)
  publish(owner.bus, log.write(2))
  await owner.bus.confirmed()
  const followed = new Promise(resolve => bus.subscribe(resolve, ['partitions_followed']))
  bus.start()
  await followed
  await there.clock.advance(30)
  await until(() => session.seqs.length === 2, 'both were delivered')
  assert.deepEqual({ seqs: session.seqs, frames: session.frames }, expected(log, 1))
})

test('updates of a user whom nobody follows elsewhere are not sent; those left out are found when the owner knows of a session', async () => {
  await using server = await NatsServer.start()
  const log = new Log()
  log.write(1)
  let isFollowed = false
  await using owner = await startNode(server, {}, { findUser, isFollowed: () => isFollowed })
  await using other = await startNode(server, {}, { findUser })
  await using there = hubOn(other.bus, log)
  const session = await subscribed(there.hub)
  await settled([owner, other])
  publish(owner.bus, log.write(2))
  await settled([owner, other])
  await there.clock.advance(30)
  assert.deepEqual(session.seqs, [])
  isFollowed = true
  other.bus.publish({ type: 'partitions_followed', partitions: new Set([partitionOf(ALEX.userKey)]) })
  await there.clock.advance(30)
  await until(() => session.seqs.length === 2, 'the log was read')
  publish(owner.bus, log.write(2))
  await settled([owner, other])
  // The first one comes without a frame, because the owner looks up the user's name.
  await there.clock.advance(30)
  await until(() => session.seqs.length === 4, 'they came')
  assert.deepEqual({ seqs: session.seqs, frames: session.frames }, expected(log, 1))
})

test('a user who is disabled on another node is not followed any more within two seconds, although no message comes', async () => {
  await using server = await NatsServer.start()
  const log = new Log()
  log.write(1)
  await using bus = natsBus(server, {}, { findUser })
  await using there = hubOn(bus, log)
  const session = await subscribed(there.hub)
  await there.clock.advance(2_000)
  assert.equal(session.isOver, false)
  log.isDisabled = true
  await there.clock.advance(2_000)
  assert.ok(session.isOver)
  assert.equal(there.hub.removals, 1)
})
