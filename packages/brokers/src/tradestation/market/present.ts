/** The market's present: the latest the broker said, carried on by our clock. Its answers have a date, its streams a time with each beat. */

import { epochMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'

/** News may overtake each other by this much; beyond it the broker's clock was set back. */
const DISORDER_MS_MAX = 60_000

export class Present {
  readonly #clock: Clock
  /** Milliseconds since the epoch, and when they arrived on the monotonic clock. */
  #told: { readonly atMs: number; readonly arrivedMs: number } | null = null
  #shownMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The broker says what time it is, milliseconds since the epoch. */
  tell(atMs: number): void {
    if (this.#told !== null && atMs < this.#told.atMs) {
      if (this.#told.atMs - atMs <= DISORDER_MS_MAX) return
      this.#shownMs = Number.NEGATIVE_INFINITY
    }
    this.#told = { atMs, arrivedMs: this.#clock.monotonicMs() }
  }

  /** Something happened at this time, so it is at least that late. */
  happened(atMs: number): void {
    if (this.#told === null || atMs > this.nowMs()) this.#told = { atMs, arrivedMs: this.#clock.monotonicMs() }
  }

  /** Milliseconds since the epoch; the machine's own until the broker has told. */
  nowMs(): number {
    if (this.#told === null) return epochMs(this.#clock.now())
    this.#shownMs = Math.max(this.#shownMs, this.#told.atMs + this.#clock.monotonicMs() - this.#told.arrivedMs)
    return this.#shownMs
  }
}
