import type { EventStore } from '@trunkline/core/ports/store'
import { type Feed, TOPIC_BITS } from './feed.ts'
import type { Hub } from './hub.ts'

/** The most events that are replayed. A client that missed more should take a snapshot. */
export const REPLAY_MAX = 10_000
const READ_MAX = 500
/** Bytes sent at once; then the replay waits until the session has written them. */
const AT_ONCE_BYTES = 256 * 1024

/** The session that a replay is sent to. */
export interface ReplayTarget {
  /** The subscribed topics as bits; null if the replay is no longer wanted. */
  wanted(): number | null
  send(frame: Uint8Array): void
  /** Resolves when everything sent is written. */
  taken(): Promise<void>
}

/** The replay would be incomplete. The reason may be shown. */
export class ReplayRefused extends Error {
  override readonly name = 'ReplayRefused'
}

/** Replays a user's log from a number to the present, completely or not at all. */
export class Replay {
  readonly #events: EventStore
  readonly #feed: Feed
  #position: number

  private constructor(events: EventStore, feed: Feed, position: number) {
    this.#events = events
    this.#feed = feed
    this.#position = position
  }

  /** The last replayed number; at first the one it begins after. */
  get position(): number {
    return this.#position
  }

  /** @throws ReplayRefused if the log does not reach back that far, or never reached that number */
  static async begin(events: EventStore, feed: Feed, after: number): Promise<Replay> {
    const { oldest, last } = await events.span(feed.userKey)
    if (after > last) throw new ReplayRefused(`after is ${after}, and the newest seq of this user is ${last}. ${TAKE_A_SNAPSHOT}`)
    if (after < oldest - 1) throw new ReplayRefused(`after is ${after}, and the oldest seq in the log is ${oldest}. ${TAKE_A_SNAPSHOT}`)
    if (last - after > REPLAY_MAX) {
      throw new ReplayRefused(`after is ${after}, ${last - after} updates ago; at most ${REPLAY_MAX} are replayed. ${TAKE_A_SNAPSHOT}`)
    }
    return new Replay(events, feed, after)
  }

  /**
   * Sends the subscribed events as fast as the session writes them. Returns the last number once nothing is between it and the feed's next
   * event; null if the replay is no longer wanted.
   */
  async run(hub: Hub, target: ReplayTarget): Promise<number | null> {
    let bytes = 0
    for (;;) {
      const events = await this.#events.read(this.#feed.userKey, this.#position, READ_MAX)
      for (const event of events) {
        const topics = target.wanted()
        if (topics === null) return null
        if (event.seq !== this.#position + 1)
          throw new ReplayRefused(`seq ${this.#position + 1} is no longer in the log. ${TAKE_A_SNAPSHOT}`)
        this.#position = event.seq
        if ((topics & TOPIC_BITS[event.topic]) === 0) continue
        const frame = hub.frame(event, this.#feed.userId)
        target.send(frame)
        bytes += frame.byteLength
        if (bytes < AT_ONCE_BYTES) continue
        bytes = 0
        await target.taken()
      }
      if (target.wanted() === null) return null
      if (this.#position >= this.#feed.position) return this.#position
      if (events.length === 0) throw new ReplayRefused(`The log ended at seq ${this.#position}. ${TAKE_A_SNAPSHOT}`)
    }
  }
}

const TAKE_A_SNAPSHOT = 'Take a snapshot by REST and subscribe without after.'
