import type { UserKey } from '@trunkline/core/domain/ids'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import { EVENTS_MAX } from './message.ts'

/** Of a generation: an event counts once, and once more for each position that it has. */
const WEIGHT_MAX = 2_000

/**
 * What was committed a moment ago, so that sending it needs no read of the log. It is the log's, and never all of it: what is not here is
 * read there. There are two generations, and the older is forgotten when a new one begins: that is what bounds the memory.
 */
export class RecentEvents {
  /** By user: events without a gap, ascending. A user is in one generation. */
  #newer = new Map<UserKey, LoggedEvent[]>()
  #older = new Map<UserKey, LoggedEvent[]>()
  #weight = 0

  /** Takes events that were committed, in whatever order they were received. */
  add(userKey: UserKey, events: readonly LoggedEvent[]): void {
    for (const event of events) {
      this.#weight += event.topic === 'positions' ? 1 + event.data.length : 1
      if (this.#weight > WEIGHT_MAX) this.age()
      this.#append(userKey, event)
    }
  }

  /** Those that follow `after`, ascending, at most `limit`. Null if the next one is not here: the log may have it. */
  after(userKey: UserKey, after: number, limit: number): readonly LoggedEvent[] | null {
    const run = this.#newer.get(userKey) ?? this.#older.get(userKey)
    const at = after + 1 - (run?.[0]?.seq ?? Number.POSITIVE_INFINITY)
    return run === undefined || at < 0 || at >= run.length ? null : run.slice(at, at + limit)
  }

  /** Begins a new generation, and forgets the one before the last. */
  age(): void {
    this.#older = this.#newer
    this.#newer = new Map()
    this.#weight = 0
  }

  #append(userKey: UserKey, event: LoggedEvent): void {
    const known = this.#newer.get(userKey) ?? this.#older.get(userKey) ?? []
    const last = known.at(-1)?.seq ?? 0
    if (event.seq <= last) return
    // After a gap, what is before it is of no use: a reader who is there needs the log.
    const run = event.seq === last + 1 ? known : []
    run.push(event)
    if (run.length > EVENTS_MAX) run.shift()
    this.#older.delete(userKey)
    this.#newer.set(userKey, run)
  }
}
