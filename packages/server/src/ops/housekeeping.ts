import { epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { AttemptStore, AuditStore, EventStore, TokenStore } from '@trunkline/core/ports/store'

const SEAL_EVERY_MS = 1_000
const SEAL_BATCH = 1_000
const PRUNE_EVERY_MS = 60_000
const KEEP_LINKS_MS = 7 * 24 * 3_600_000
const DAY_MS = 24 * 3_600_000
/** An expired token is erased a day later: were the clock wrong, it is good again when the clock is right. */
const KEEP_TOKENS_MS = DAY_MS
/** Beyond this a wall clock that runs ahead of the monotonic one was set: what that alone makes old is not erased until the next start. */
const AHEAD_MS_MAX = 3_600_000
/** Events erased in one step: some milliseconds of the database's time. */
const EVENTS_STEP = 500
/** Pause between two steps, in which other callers of the database are served. With it at most some 10,000 events a second go. */
const EVENTS_PAUSE_MS = 50

/** The parts of the store that are tidied. */
export interface HousekeepingCounts {
  readonly audit: Pick<AuditStore, 'seal'>
  readonly attempts: Pick<AttemptStore, 'prune'>
  readonly tokens: Pick<TokenStore, 'prune'>
  readonly events: Pick<EventStore, 'prune'>
}

/** What happens regularly and belongs to no request: chaining the audit log, and erasing links, tokens and events that are over. */
export class Housekeeping {
  readonly #store: HousekeepingCounts
  readonly #clock: Clock
  readonly #log: Log
  readonly #keepEventsMs: number
  /** What the wall clock showed at the start, less what the monotonic one did. */
  readonly #apartMs: number
  readonly #stopping = new AbortController()
  #running: Promise<unknown> | null = null

  /** @param eventsDays days for which events are retained */
  constructor(deps: { readonly store: HousekeepingCounts; readonly clock: Clock; readonly log: Log }, eventsDays: number) {
    this.#store = deps.store
    this.#clock = deps.clock
    this.#log = deps.log
    this.#keepEventsMs = eventsDays * DAY_MS
    this.#apartMs = epochMs(deps.clock.now()) - deps.clock.monotonicMs()
  }

  start(): void {
    this.#running ??= Promise.all([
      this.#every(SEAL_EVERY_MS, () => this.#seal()),
      this.#every(PRUNE_EVERY_MS, () => this.#prune()),
      this.#every(PRUNE_EVERY_MS, () => this.#pruneEvents())
    ])
  }

  /** Chains what the last second wrote before it ends. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await this.#seal().catch(cause => this.#log.warn('the audit log was not chained to its end; the next start does it', { cause }))
  }

  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#pause(ms)
      if (signal.aborted) return
      await work().catch(cause => this.#log.warn('housekeeping waits for the store', { cause }))
    }
  }

  async #seal(): Promise<void> {
    while ((await this.#store.audit.seal(SEAL_BATCH)) === SEAL_BATCH);
  }

  async #prune(): Promise<void> {
    // An expired link is still distinguished from one that never existed, and its user sent back to the platform, for a week.
    await this.#store.attempts.prune(this.#ago(KEEP_LINKS_MS))
    await this.#store.tokens.prune(this.#ago(KEEP_TOKENS_MS))
  }

  /** Ends after the present step when the service stops; the next start goes on. */
  async #pruneEvents(): Promise<void> {
    const before = this.#ago(this.#keepEventsMs)
    while (!this.#stopping.signal.aborted && (await this.#store.events.prune(before, EVENTS_STEP)) === EVENTS_STEP)
      await this.#pause(EVENTS_PAUSE_MS)
  }

  #ago(ms: number): Timestamp {
    const latest = this.#apartMs + this.#clock.monotonicMs() + AHEAD_MS_MAX
    return timestampOfMs(Math.min(epochMs(this.#clock.now()), latest) - ms)
  }

  /** Ends early when the service stops. */
  async #pause(ms: number): Promise<void> {
    await this.#clock.sleep(ms, this.#stopping.signal).catch(() => undefined)
  }
}
