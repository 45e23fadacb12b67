import { epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { AttemptStore, AuditStore, EventStore, TokenStore } from '@trunkline/core/ports/store'
import type { WebhookDeliveryStore } from '@trunkline/core/ports/webhook-store'

const SEAL_EVERY_MS = 1_000
const SEAL_BATCH = 1_000
const PRUNE_EVERY_MS = 60_000
const KEEP_LINKS_MS = 7 * 24 * 3_600_000
const DAY_MS = 24 * 3_600_000
const KEEP_DELIVERIES_MS = 30 * DAY_MS
/** Attempts of an endpoint that are kept. */
const DELIVERIES_MAX = 10_000
/** An expired token is erased a day later: if the clock was wrong, the token is valid again once the clock is right. */
const KEEP_TOKENS_MS = DAY_MS
/**
 * If the wall clock is further ahead of the monotonic one than this, it was set: records that are old only by it are not erased until the
 * next start.
 */
const AHEAD_MS_MAX = 3_600_000
/** Events erased in one step: a few milliseconds of the database's time. */
const EVENTS_STEP = 500
/** Pause between two steps, in which other callers of the database are served. At most some 10,000 events a second are erased. */
const EVENTS_PAUSE_MS = 50

/** The parts of the store that housekeeping cleans up. */
export interface HousekeepingCounts {
  readonly audit: Pick<AuditStore, 'seal'>
  readonly attempts: Pick<AttemptStore, 'prune'>
  readonly tokens: Pick<TokenStore, 'prune'>
  readonly events: Pick<EventStore, 'prune'>
  readonly webhooks: { readonly deliveries: Pick<WebhookDeliveryStore, 'prune'> }
}

/** Housekeeping in a cluster. */
export interface SharedHousekeeping {
  /** Whether this node does it for all. */
  isOurs(): boolean
  /** Removes what dead nodes left behind. */
  sweep(): Promise<void>
}

/**
 * Regular work outside requests: chaining the audit log, and erasing expired links, tokens and events. In a cluster one node does it. If
 * two did for a moment, one would wait for the other in the database.
 */
export class Housekeeping {
  readonly #store: HousekeepingCounts
  readonly #clock: Clock
  readonly #log: Log
  readonly #keepEventsMs: number
  readonly #shared: SharedHousekeeping | null
  /** The wall clock at the start minus the monotonic one. */
  readonly #apartMs: number
  readonly #stopping = new AbortController()
  #running: Promise<unknown> | null = null

  /** @param eventsDays days for which events are retained; @param shared null where there is one node */
  constructor(
    deps: { readonly store: HousekeepingCounts; readonly clock: Clock; readonly log: Log },
    eventsDays: number,
    shared: SharedHousekeeping | null = null
  ) {
    this.#shared = shared
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
      this.#every(PRUNE_EVERY_MS, () => this.#pruneEvents()),
      this.#every(PRUNE_EVERY_MS, () => this.#pruneDeliveries())
    ])
  }

  /** Chains the entries of the last second before it ends. */
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
      if (this.#shared?.isOurs() === false) continue
      await work().catch(cause => this.#log.warn('housekeeping waits for the store', { cause }))
    }
  }

  async #seal(): Promise<void> {
    while ((await this.#store.audit.seal(SEAL_BATCH)) === SEAL_BATCH);
  }

  async #prune(): Promise<void> {
    // For a week an expired link is still distinguished from one that never existed, and its user is sent back to the platform.
    await this.#store.attempts.prune(this.#ago(KEEP_LINKS_MS))
    await this.#store.tokens.prune(this.#ago(KEEP_TOKENS_MS))
    await this.#shared?.sweep()
  }

  /** Ends after the present step when the service stops; the next start continues. */
  async #pruneEvents(): Promise<void> {
    const before = this.#ago(this.#keepEventsMs)
    while (!this.#stopping.signal.aborted && (await this.#store.events.prune(before, EVENTS_STEP)) === EVENTS_STEP)
      await this.#pause(EVENTS_PAUSE_MS)
  }

  async #pruneDeliveries(): Promise<void> {
    const before = this.#ago(KEEP_DELIVERIES_MS)
    const { deliveries } = this.#store.webhooks
    while (!this.#stopping.signal.aborted && (await deliveries.prune(before, DELIVERIES_MAX, EVENTS_STEP)) === EVENTS_STEP)
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
