/** The hub against a log that is written apart from it: what a session sees does not depend on how events travel. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LocalBus } from '@trunkline/core/app/local-bus'
import type { ConnectionHealth } from '@trunkline/core/domain/account'
import type { UserKey } from '@trunkline/core/domain/ids'
import type { BusMessage } from '@trunkline/core/ports/bus'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import { connectionId } from '@trunkline/testkit/bus-contract/messages'
import * as make from '@trunkline/testkit/store-contract/records'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { ALL_TOPICS, type Feed, type Subscriber } from '../../src/stream/account/feed.ts'
import { Hub } from '../../src/stream/account/hub.ts'
import { Replay, ReplayRefused } from '../../src/stream/account/replay.ts'
import { ALEX, EventLog } from './event-log.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
class Session implements Subscriber {
  topics = ALL_TOPICS
  readonly seen: number[] = []
  statuses = 0
  isRemoved = false

  update(_feed: Feed, seq: number): void {
    this.seen.push(seq)
  }

  status(): void {
    this.statuses += 1
  }

  removed(): void {
    this.isRemoved = true
  }
}

function stage() {
  const [log, clock, bus] = [new EventLog(), new VirtualClock(), new LocalBus(quiet)]
  const held: string[] = []
  const watch = { hold: (userKey: UserKey) => held.push(userKey), release: (userKey: UserKey) => held.splice(held.indexOf(userKey), 1) }
  const hub = new Hub({ events: log, bus, clock, log: quiet, watch, encode: () => new Uint8Array() })
  const publish = (...events: readonly LoggedEvent[]) => bus.publish({ type: 'events', userKey: ALEX.userKey, events } satisfies BusMessage)
  return { log, clock, bus, hub, publish, held }
}

async function subscribed(hub: Hub): Promise<{ readonly session: Session; readonly feed: Feed }> {
  const session = new Session()
  const feed = await hub.join(ALEX)
  hub.attach(feed, session)
  return { session, feed }
}

test('events that travel out of order, twice, or in pieces are delivered once and in order', async () => {
  const { log, clock, hub, publish } = stage()
  log.write(2)
  const { session } = await subscribed(hub)
  const [a, b, c, d] = log.write(4)
  if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error('four events')
  publish(b)
  publish(d, a)
  publish(a, b)
  publish(c)
  await clock.settled()
  assert.deepEqual(session.seen, [3, 4, 5, 6])
  await hub.stop()
})

test('an event that is never published is read from the log when a later one shows the gap', async () => {
  const { log, clock, hub, publish } = stage()
  const { session } = await subscribed(hub)
  log.write(3)
  log.fails = 2
  const [last] = log.events.slice(-1)
  if (last !== undefined) publish(last)
  await clock.advance(24)
  assert.deepEqual(session.seen, [])
  await clock.advance(100)
  assert.deepEqual(session.seen, [1, 2, 3])
  await hub.stop()
})

test('events that were never published are found within seconds', async () => {
  const { log, clock, hub } = stage()
  const { session } = await subscribed(hub)
  log.write(1_200)
  await clock.advance(6_000)
  assert.deepEqual(
    session.seen,
    log.events.map(({ seq }) => seq)
  )
  await hub.stop()
})

test('a user whose first event happens during a check stays, and one whose events are gone leaves', async () => {
  const { log, clock, hub, publish } = stage()
  const { session } = await subscribed(hub)
  log.onLastsRead = () => {
    if (log.events.length === 0) publish(...log.write(1))
  }
  await clock.advance(6_000)
  assert.deepEqual({ seen: session.seen, isRemoved: session.isRemoved }, { seen: [1], isRemoved: false })
  log.onLastsRead = () => undefined
  log.events.length = 0
  await clock.advance(6_000)
  assert.ok(session.isRemoved)
  await hub.stop()
})

test('what is published while a feed opens is neither lost nor repeated', async () => {
  const { log, clock, hub, publish } = stage()
  log.write(1)
  const joining = hub.join(ALEX)
  const [second] = log.write(1)
  if (second !== undefined) publish(second)
  const session = new Session()
  const feed = await joining
  const before = feed.position
  hub.attach(feed, session)
  publish(...log.write(1))
  await clock.settled()
  assert.deepEqual(
    session.seen,
    [2, 3].filter(seq => seq > before)
  )
  assert.equal(feed.position, 3)
  await hub.stop()
})

test('a feed without sessions is given up, and its user with it', async () => {
  const { hub, held, bus } = stage()
  const [one, two] = [await subscribed(hub), await subscribed(hub)]
  assert.deepEqual(held, [ALEX.userKey])
  for (const { feed, session } of [one, two]) {
    assert.equal(hub.users, 1)
    hub.detach(feed, session)
    hub.leave(feed)
  }
  assert.equal(hub.users, 0)
  assert.deepEqual(held, [])
  const { session } = await subscribed(hub)
  bus.publish({ type: 'user_removed', userKey: ALEX.userKey })
  assert.ok(session.isRemoved)
  assert.deepEqual(held, [])
  await hub.stop()
})

test('a replay joins the live events without a gap or a repeat, however it is interrupted', async () => {
  const { log, clock, hub, publish } = stage()
  log.write(1_100)
  const feed = await hub.join(ALEX)
  const replay = await Replay.begin(log, feed, 10)
  let sent = 0
  // While it runs more is written, some of it published and some not yet.
  const send = () => {
    sent += 1
    if (sent % 400 !== 0) return
    const [missed] = log.write(2)
    if (missed !== undefined) publish(missed)
  }
  const position = await replay.run(hub, { wanted: () => ALL_TOPICS, send, taken: async () => undefined })
  assert.equal(position, 10 + sent)
  assert.ok(position !== null && position >= feed.position)
  await clock.advance(10_000)
  assert.equal(feed.position, log.events.length)
  await hub.stop()
})

test('a replay that would not be whole is refused, saying what to do', async () => {
  const { log, hub } = stage()
  log.write(10_050)
  log.oldest = 20
  const feed = await hub.join(ALEX)
  for (const after of [10_051, 18, 49]) {
    await assert.rejects(Replay.begin(log, feed, after), (error: unknown) => {
      assert.ok(error instanceof ReplayRefused)
      assert.match(error.message, /snapshot/)
      return true
    })
  }
  await Replay.begin(log, feed, 50)
  await hub.stop()
})

test('the same health of a connection, reported by this node and by the next owner, is sent once; a session that came since is sent it', async () => {
  const { bus, hub } = stage()
  const { session, feed } = await subscribed(hub)
  const live = { state: 'live', since: make.at(1), reason: null } as const
  const report = (health: ConnectionHealth) => {
    bus.publish({ type: 'connection_health', userKey: ALEX.userKey, connectionId, health })
    hub.healthElsewhere(ALEX.userKey, connectionId, { ...health })
  }
  report(live)
  assert.equal(session.statuses, 1)
  report({ ...live, since: make.at(2) })
  report({ ...live, state: 'stale' })
  report(live)
  assert.equal(session.statuses, 4)
  const later = new Session()
  hub.attach(feed, later)
  report(live)
  assert.equal(later.statuses, 1)
  await hub.stop()
})
