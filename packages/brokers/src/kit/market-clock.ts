/** A market's current time: the latest time that its broker reported, advanced by our clock. A sandbox has its own time. */

import { epochMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'

/**
 * Messages may be out of order by this much of the broker's time, which can run many times faster than ours; beyond it, the clock was set
 * back.
 */
const DISORDER_MS_MAX = 60_000

/** Advanced by the monotonic clock: a wall clock that is set while a market is followed moves none of its bars. */
export class MarketClock {
  readonly #clock: Clock
  readonly #coarseMs: number
  /** The machine's time less the monotonic clock, when this began. */
  readonly #ownMs: number
  /** The latest time the broker reported, milliseconds since the epoch, and when it arrived on the monotonic clock. */
  #synced: { readonly atMs: number; readonly arrivedMs: number } | null = null
  #lastShownMs = Number.NEGATIVE_INFINITY

  /** `coarseMs`: for a broker that reports whole seconds. Within this the machine's clock is as good, and counts. */
  constructor(clock: Clock, coarseMs = 0) {
    this.#clock = clock
    this.#coarseMs = coarseMs
    this.#ownMs = epochMs(clock.now()) - clock.monotonicMs()
  }

  /** The broker's time, in milliseconds since the epoch. */
  sync(reportedMs: number): void {
    if (this.#coarseMs > 0 && Math.abs(reportedMs - this.nowMs()) <= this.#coarseMs) return
    const atMs = this.#exact(reportedMs)
    if (this.#synced !== null && atMs < this.#synced.atMs) {
      if (this.#synced.atMs - atMs <= DISORDER_MS_MAX) return
      // Only a clock that was set back moves the shown time back; a frozen clock does not, although our clock advanced it meanwhile.
      this.#lastShownMs = Number.NEGATIVE_INFINITY
    }
    this.#synced = { atMs, arrivedMs: this.#clock.monotonicMs() }
  }

  /** An event of this time occurred, so it is at least that late. Milliseconds since the epoch. */
  happened(atMs: number): void {
    const isLater = this.#coarseMs > 0 ? atMs > this.nowMs() + this.#coarseMs : this.#synced === null || atMs > this.nowMs()
    if (isLater) this.#synced = { atMs: this.#exact(atMs), arrivedMs: this.#clock.monotonicMs() }
  }

  /** Milliseconds since the epoch; the machine's own until the broker has reported its time. */
  nowMs(): number {
    const nowMs = this.#clock.monotonicMs()
    if (this.#synced === null) return this.#ownMs + nowMs
    this.#lastShownMs = Math.max(this.#lastShownMs, this.#synced.atMs + nowMs - this.#synced.arrivedMs)
    return this.#lastShownMs
  }

  #exact(ms: number): number {
    if (this.#coarseMs === 0) return ms
    const own = epochMs(this.#clock.now())
    return Math.abs(ms - own) <= this.#coarseMs ? own : ms
  }
}
