import { setBounded } from '@trunkline/core/app/bounded-map'
import type { UserWatch } from '@trunkline/core/app/mirror/user-watch'
import { type ConnectionHealth, isSameHealth, type User } from '@trunkline/core/domain/account'
import type { ConnectionId, UserId, UserKey } from '@trunkline/core/domain/ids'
import { type Partition, partitionOf } from '@trunkline/core/domain/partition'
import type { Bus, BusMessage, UpdateFrame } from '@trunkline/core/ports/bus'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { EventStore, LoggedEvent, UserStore } from '@trunkline/core/ports/store'
import type { ServerMessage } from '../../wire/stream.ts'
import { updateBytes } from '../../wire/update.ts'
import { framedInPlace, messageFrame } from '../frame.ts'
import { type Feed, type FeedUpdate, type Subscriber, TOPIC_BITS } from './feed.ts'

/** Encodes an event; the same bytes for every session. */
export type EncodeUpdate = (event: LoggedEvent, userId: UserId) => Uint8Array

/** An event as sessions are sent it. */
export const encodeUpdate: EncodeUpdate = (event, userId) => framedInPlace(before => updateBytes(event, userId, before))

export interface HubDeps {
  readonly events: EventStore
  readonly bus: Bus
  readonly clock: Clock
  readonly log: Log
  readonly watch: Pick<UserWatch, 'hold' | 'release'>
  readonly encode?: EncodeUpdate
  /** Given between nodes, where any message of the bus may be lost: what is checked instead. */
  readonly unreliable?: { readonly users: Pick<UserStore, 'enabledOf'> }
}

/** How long to wait for a missing number before the log is read. Commits of one user return in any order, but soon. */
const GAP_MS = 25
/** Events buffered while one is missing; beyond it all of them are read from the log. */
const EARLY_MAX = 1_000
const READ_MAX = 500
/**
 * How often the log is checked for missed events: an event that was never published leaves no gap. Between nodes every message may be
 * lost, and a loss may add two seconds at most.
 */
export const CHECK_MS = { alone: 5_000, inCluster: 1_500 }
const CHECKED_AT_ONCE = 1_000
/** Connections of one user whose health is compared; that of others may be sent twice. */
const STATUSES_MAX = 100

/** Delivers every event of a watched user once, in sequence, to the sessions that want it. */
export class Hub {
  readonly #deps: HubDeps
  readonly #encode: EncodeUpdate
  readonly #feeds = new Map<UserKey, Feed>()
  readonly #gaps = new Set<Feed>()
  readonly #stopping = new AbortController()
  readonly #unsubscribe: () => void
  readonly #checking: Promise<void>
  #backfilling: Promise<void> | null = null
  #checkingOnce: Promise<void> | null = null
  /** Partitions to be checked by the next check that is not a regular one. */
  #toCheck = new Set<Partition>()
  #deliveries = 0
  #removals = 0

  constructor(deps: HubDeps) {
    this.#deps = deps
    this.#encode = deps.encode ?? encodeUpdate
    this.#unsubscribe = deps.bus.subscribe(
      message => this.#onBusMessage(message),
      ['events', 'update_frames', 'partitions_followed', 'connection_health', 'user_removed', 'user_disabled']
    )
    this.#checking = this.#check()
  }

  /** Users with at least one subscriber. */
  get users(): number {
    return this.#feeds.size
  }

  /**
   * Counts users that were removed or disabled. A removal is not reported if the user had no feed at that moment: a session that looked the
   * user up before checks again.
   */
  get removals(): number {
    return this.#removals
  }

  /** Updates delivered to sessions since the start. */
  get deliveries(): number {
    return this.#deliveries
  }

  async stop(): Promise<void> {
    this.#unsubscribe()
    this.#stopping.abort()
    await Promise.all([this.#checking, this.#checkingOnce, this.#backfilling])
  }

  /** Resolves when every published event is delivered and none waits for a missing one. */
  async settled(): Promise<void> {
    while (this.#backfilling !== null && !this.#stopping.signal.aborted) await this.#backfilling
  }

  /** The user's feed, with its position known. Each call needs one call of {@link leave}. @throws StoreUnavailable */
  async join({ userKey, userId }: Pick<User, 'userKey' | 'userId'>): Promise<Feed> {
    const feed = this.#feeds.get(userKey) ?? this.#open(userKey, userId)
    feed.holders += 1
    if (feed.opening === null) return feed
    try {
      await feed.opening
      return feed
    } catch (cause) {
      this.leave(feed)
      throw cause
    }
  }

  /** Delivers to the subscriber all events after `feed.position`. */
  attach(feed: Feed, subscriber: Subscriber): void {
    feed.subscribers.push(subscriber)
    // What the others were sent last, this one may not have.
    feed.statuses = null
  }

  detach(feed: Feed, subscriber: Subscriber): void {
    const at = feed.subscribers.indexOf(subscriber)
    if (at >= 0) feed.subscribers.splice(at, 1)
  }

  leave(feed: Feed): void {
    feed.holders -= 1
    if (feed.holders === 0) this.#close(feed)
  }

  /** Another node, which owns the user, has found that a connection's health is another. */
  healthElsewhere(userKey: UserKey, connectionId: ConnectionId, health: ConnectionHealth): void {
    const feed = this.#feeds.get(userKey)
    if (feed !== undefined) this.#sendStatus(feed, connectionId, health)
  }

  /** An event as every session receives it. */
  frame(event: LoggedEvent, userId: UserId): Uint8Array {
    return this.#encode(event, userId)
  }

  #open(userKey: UserKey, userId: UserId): Feed {
    // Events published while the position is read wait in `early`, and are dropped if they are part of it.
    const following = this.#deps.bus.follow(userKey)
    const feed: Feed = {
      userKey,
      userId,
      position: 0,
      subscribers: [],
      holders: 0,
      early: null,
      statuses: null,
      opening: null,
      isRemoved: false,
      following
    }
    this.#feeds.set(userKey, feed)
    this.#deps.watch.hold(userKey)
    feed.opening = this.#deps.events.last(userKey).then(last => {
      feed.position = last
      feed.opening = null
      this.#drain(feed)
    })
    return feed
  }

  #close(feed: Feed): void {
    if (this.#feeds.get(feed.userKey) !== feed) return
    this.#feeds.delete(feed.userKey)
    this.#gaps.delete(feed)
    feed.following[Symbol.dispose]()
    this.#deps.watch.release(feed.userKey)
  }

  #onBusMessage(message: BusMessage): void {
    if (message.type === 'partitions_followed') this.#checkOnceMore(message.partitions)
    if (!('userKey' in message)) return
    const isRemoval = message.type === 'user_removed' || message.type === 'user_disabled'
    if (isRemoval) this.#removals += 1
    const feed = this.#feeds.get(message.userKey)
    if (feed === undefined) return
    if (isRemoval) this.#remove(feed)
    else if (message.type === 'events') for (const event of message.events) this.#take(feed, event)
    else if (message.type === 'update_frames') for (const update of message.updates) this.#takeFrame(feed, update)
    else if (message.type === 'connection_health') this.#sendStatus(feed, message.connectionId, message.health)
  }

  /** Only what will be delivered is copied: a frame is a part of a larger message, and may wait in many send buffers. */
  #takeFrame(feed: Feed, { seq, topic, frame }: UpdateFrame): void {
    if (feed.opening === null && seq <= feed.position) return
    if (frame !== null) this.#take(feed, { seq, topic, frame: new Uint8Array(frame) })
    // While the feed opens, its position may come to include it; if not, the check finds it.
    else if (feed.opening === null) this.#requestBackfill(feed)
  }

  #take(feed: Feed, event: FeedUpdate): void {
    const { seq } = event
    if (feed.opening === null) {
      if (seq === feed.position + 1) {
        this.#deliver(feed, event)
        if (feed.early !== null) this.#drain(feed)
        return
      }
      if (seq <= feed.position) return
    }
    feed.early ??= new Map()
    if (feed.early.size >= EARLY_MAX) feed.early.clear()
    feed.early.set(seq, event)
    if (feed.opening === null) this.#requestBackfill(feed)
  }

  /** Delivers the buffered events that are next in sequence. */
  #drain(feed: Feed): void {
    const { early } = feed
    if (early === null) return
    for (let event = early.get(feed.position + 1); event !== undefined; event = early.get(feed.position + 1)) this.#deliver(feed, event)
    for (const seq of early.keys()) if (seq <= feed.position) early.delete(seq)
    if (early.size > 0) this.#requestBackfill(feed)
    else {
      feed.early = null
      this.#gaps.delete(feed)
    }
  }

  #deliver(feed: Feed, event: FeedUpdate): void {
    feed.position = event.seq
    const bit = TOPIC_BITS[event.topic]
    let frame: Uint8Array | null = null
    for (const subscriber of feed.subscribers) {
      if ((subscriber.topics & bit) === 0) continue
      frame ??= 'frame' in event ? event.frame : this.#encode(event, feed.userId)
      this.#deliveries += 1
      subscriber.update(feed, event.seq, frame)
    }
  }

  /** When a user moves, this node and the next owner may both report the same. */
  #sendStatus(feed: Feed, connectionId: ConnectionId, health: ConnectionHealth): void {
    if (feed.subscribers.length === 0 || isSameHealth(feed.statuses?.get(connectionId), health)) return
    feed.statuses ??= new Map()
    setBounded(feed.statuses, connectionId, health, STATUSES_MAX)
    let made: Uint8Array | null = null
    const frame = () => (made ??= messageFrame(statusMessage(feed.userId, connectionId, health)))
    for (const subscriber of feed.subscribers) subscriber.status(frame)
  }

  /** The user was removed or disabled without a message. */
  #endOf(feed: Feed): void {
    this.#removals += 1
    if (this.#feeds.get(feed.userKey) === feed) this.#remove(feed)
  }

  #remove(feed: Feed): void {
    feed.isRemoved = true
    this.#close(feed)
    for (const subscriber of [...feed.subscribers]) subscriber.removed(feed)
  }

  #requestBackfill(feed: Feed): void {
    this.#gaps.add(feed)
    this.#backfilling ??= this.#backfillAll().finally(() => {
      this.#backfilling = null
    })
  }

  /** Reads missing events from the log. An event that arrives meanwhile closes a gap as well. */
  async #backfillAll(): Promise<void> {
    const { clock, log } = this.#deps
    const { signal } = this.#stopping
    while (this.#gaps.size > 0 && !signal.aborted) {
      const waited = [...this.#gaps].map(feed => ({ feed, position: feed.position }))
      await clock.sleep(GAP_MS, signal).catch(() => undefined)
      for (const { feed, position } of waited) {
        if (signal.aborted || !this.#gaps.has(feed) || feed.position !== position) continue
        // A store that does not answer is retried in the next round.
        await this.#backfill(feed).catch(cause => log.warn('missing events could not be read', { userKey: feed.userKey, cause }))
      }
    }
  }

  async #backfill(feed: Feed): Promise<void> {
    const events = await this.#deps.events.read(feed.userKey, feed.position, READ_MAX)
    for (const event of events) if (event.seq > feed.position) this.#deliver(feed, event)
    if (events.length === READ_MAX) this.#requestBackfill(feed)
    else {
      this.#gaps.delete(feed)
      this.#drain(feed)
    }
  }

  /** `last`: the user's newest event, read after the feed was at `position`; undefined if the log has none. */
  #compare(feed: Feed, position: number, last: number | undefined): void {
    // A user whose events are gone was deleted without a message. A first event may have come since the log was read.
    if (last === undefined && position > 0) this.#remove(feed)
    else if (last !== undefined && last > feed.position) this.#requestBackfill(feed)
  }

  async #check(): Promise<void> {
    const { clock, unreliable } = this.#deps
    const checkMs = unreliable === undefined ? CHECK_MS.alone : CHECK_MS.inCluster
    const { signal } = this.#stopping
    for (let tookMs = 0; !signal.aborted; ) {
      await clock.sleep(Math.max(checkMs / 4, checkMs - tookMs), signal).catch(() => undefined)
      const begun = clock.monotonicMs()
      if (!signal.aborted) await this.#checkAll([...this.#feeds.values()])
      tookMs = clock.monotonicMs() - begun
    }
  }

  /** What other nodes published before their messages arrive here is in the log. One check at a time; later ones are one. */
  #checkOnceMore(partitions: ReadonlySet<Partition>): void {
    for (const partition of partitions) this.#toCheck.add(partition)
    this.#checkingOnce ??= this.#checkPartitions().finally(() => {
      this.#checkingOnce = null
    })
  }

  async #checkPartitions(): Promise<void> {
    while (this.#toCheck.size > 0 && !this.#stopping.signal.aborted) {
      const partitions = this.#toCheck
      this.#toCheck = new Set()
      const feeds = [...this.#feeds.values()].filter(({ userKey }) => partitions.has(partitionOf(userKey)))
      // The position of a feed that opens may be from before.
      await Promise.all(feeds.map(({ opening }) => opening?.catch(() => undefined)))
      await this.#checkAll(feeds)
    }
  }

  async #checkAll(candidates: readonly Feed[]): Promise<void> {
    const { events, log, unreliable } = this.#deps
    const { signal } = this.#stopping
    const feeds = candidates.filter(feed => feed.opening === null && !feed.isRemoved)
    for (let from = 0; from < feeds.length && !signal.aborted; from += CHECKED_AT_ONCE) {
      const some = feeds.slice(from, from + CHECKED_AT_ONCE)
      try {
        const userKeys = some.map(({ userKey }) => userKey)
        const enabled = await unreliable?.users.enabledOf(userKeys)
        for (const feed of some) if (enabled?.has(feed.userKey) === false) this.#endOf(feed)
        const positions = some.map(({ position }) => position)
        const lasts = await events.lasts(userKeys)
        for (const [at, feed] of some.entries()) if (!feed.isRemoved) this.#compare(feed, positions[at] ?? 0, lasts.get(feed.userKey))
      } catch (cause) {
        log.warn('the newest events could not be read', { cause })
      }
    }
  }
}

/** The message of a connection's health. */
export function statusMessage(userId: UserId, connectionId: ConnectionId, { state, since, reason }: ConnectionHealth): ServerMessage {
  const status = state === 'broken' ? 'BROKEN' : 'ACTIVE'
  return { type: 'stream_status', user_id: userId, connection_id: connectionId, status, health: state, since, reason }
}
