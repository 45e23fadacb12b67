/** The house's own present: the latest it said, carried on by our clock. */

import { epochMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'

/** News may overtake each other by this much of house time, which can run many times faster than ours; beyond it the house's clock was set back. */
const DISORDER_MS_MAX = 60_000

export class HouseTime {
  readonly #clock: Clock
  /** The latest the house said, milliseconds since the epoch, and when it arrived on the monotonic clock. */
  #told: { readonly houseMs: number; readonly arrivedMs: number } | null = null
  #shownMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The house says what time it is. Milliseconds since the epoch. */
  tell(houseMs: number): void {
    if (this.#told !== null && houseMs < this.#told.houseMs) {
      if (this.#told.houseMs - houseMs <= DISORDER_MS_MAX) return
      // Only a house whose clock was set back takes the present back. One that stands still would, by what was carried on meanwhile.
      this.#shownMs = Number.NEGATIVE_INFINITY
    }
    this.#told = { houseMs, arrivedMs: this.#clock.monotonicMs() }
  }

  /** Something happened at this time, so it is at least that late. Milliseconds since the epoch. */
  happened(houseMs: number): void {
    if (this.#told === null || houseMs > this.nowMs()) this.#told = { houseMs, arrivedMs: this.#clock.monotonicMs() }
  }

  /** Milliseconds since the epoch; the machine's own until the house has told. */
  nowMs(): number {
    if (this.#told === null) return epochMs(this.#clock.now())
    const carriedMs = this.#told.houseMs + this.#clock.monotonicMs() - this.#told.arrivedMs
    this.#shownMs = Math.max(this.#shownMs, carriedMs)
    return this.#shownMs
  }
}
