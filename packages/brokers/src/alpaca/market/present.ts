/** The present of Alpaca's market: the latest it said, carried on by our clock. The sandbox brokerage lives in a time of its own. */

import { epochMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'

/** News may overtake each other by so much; beyond it the broker's clock was set back. */
const DISORDER_MS_MAX = 60_000

export class Present {
  readonly #clock: Clock
  #told: { readonly ms: number; readonly arrivedMs: number } | null = null
  #shownMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Alpaca says what time it is. Milliseconds since the epoch. */
  tell(ms: number): void {
    if (this.#told !== null && ms < this.#told.ms) {
      if (this.#told.ms - ms <= DISORDER_MS_MAX) return
      this.#shownMs = Number.NEGATIVE_INFINITY
    }
    this.#told = { ms, arrivedMs: this.#clock.monotonicMs() }
  }

  /** Something happened at this time, so it is at least that late. Milliseconds since the epoch. */
  happened(ms: number): void {
    if (this.#told === null || ms > this.nowMs()) this.#told = { ms, arrivedMs: this.#clock.monotonicMs() }
  }

  /** Milliseconds since the epoch; the machine's own until Alpaca has told. */
  nowMs(): number {
    if (this.#told === null) return epochMs(this.#clock.now())
    this.#shownMs = Math.max(this.#shownMs, this.#told.ms + this.#clock.monotonicMs() - this.#told.arrivedMs)
    return this.#shownMs
  }
}
