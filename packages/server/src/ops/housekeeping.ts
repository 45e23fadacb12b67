import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { Store } from '@trunkline/core/ports/store'

const SEAL_EVERY_MS = 1_000
const SEAL_BATCH = 1_000
const PRUNE_EVERY_MS = 60_000
const KEEP_LINKS_MS = 7 * 24 * 3_600_000

/** What happens regularly and belongs to no request: chaining the audit log, and erasing links and tokens that are over. */
export class Housekeeping {
  readonly #store: Pick<Store, 'audit' | 'attempts' | 'tokens'>
  readonly #clock: Clock
  readonly #log: Log
  readonly #stopping = new AbortController()
  #running: Promise<unknown> | null = null

  constructor(store: Pick<Store, 'audit' | 'attempts' | 'tokens'>, clock: Clock, log: Log) {
    this.#store = store
    this.#clock = clock
    this.#log = log
  }

  start(): void {
    this.#running ??= Promise.all([this.#every(SEAL_EVERY_MS, () => this.#seal()), this.#every(PRUNE_EVERY_MS, () => this.#prune())])
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
      await this.#clock.sleep(ms, signal).catch(() => undefined)
      if (signal.aborted) return
      await work().catch(cause => this.#log.warn('housekeeping waits for the store', { cause }))
    }
  }

  async #seal(): Promise<void> {
    while ((await this.#store.audit.seal(SEAL_BATCH)) === SEAL_BATCH);
  }

  async #prune(): Promise<void> {
    const now = this.#clock.now()
    // An expired link is still told apart from one that never was, and its user sent back to the platform, for a week.
    await this.#store.attempts.prune(timestampOfMs(epochMs(now) - KEEP_LINKS_MS))
    await this.#store.tokens.prune(now)
  }
}
