/** A market's current time: the latest time that its broker reported, advanced by our clock. A sandbox has its own time. */

import { epochMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'

/** Messages may be out of order by this much of the broker's time, which can run many times faster than ours; beyond it, the clock was set back. */
const DISORDER_MS_MAX = 60_000

export class MarketClock {
  readonly #clock: Clock
  /** The latest time the broker reported, milliseconds since the epoch, and when it arrived on the monotonic clock. */
  #synced: { readonly atMs: number; readonly arrivedMs: number } | null = null
  #lastShownMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The broker's time, in milliseconds since the epoch. */
  sync(atMs: number): void {
    if (this.#synced !== null && atMs < this.#synced.atMs) {
      if (this.#synced.atMs - atMs <= DISORDER_MS_MAX) return
      // Only a clock that was set back moves the shown time back; a frozen clock does not, although our clock advanced it meanwhile.
      this.#lastShownMs = Number.NEGATIVE_INFINITY
    }
    this.#synced = { atMs, arrivedMs: this.#clock.monotonicMs() }
  }

  /** An event of this time occurred, so it is at least that late. Milliseconds since the epoch. */
  happened(atMs: number): void {
    if (this.#synced === null || atMs > this.nowMs()) this.#synced = { atMs, arrivedMs: this.#clock.monotonicMs() }
  }

  /** Milliseconds since the epoch; the machine's own until the broker has reported its time. */
  nowMs(): number {
    if (this.#synced === null) return epochMs(this.#clock.now())
    this.#lastShownMs = Math.max(this.#lastShownMs, this.#synced.atMs + this.#clock.monotonicMs() - this.#synced.arrivedMs)
    return this.#lastShownMs
  }
}
