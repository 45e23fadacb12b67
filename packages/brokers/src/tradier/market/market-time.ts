/** What time it is at Tradier: ours, unless its market keeps another one, as a sandbox may. */

import { epochMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'

/** Tradier tells seconds, and clocks differ; within this the machine's is as good. */
const SAME_MS = 2_000

export class MarketTime {
  readonly #clock: Clock
  #aheadMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Milliseconds since the epoch. */
  nowMs(): number {
    return epochMs(this.#clock.now()) + this.#aheadMs
  }

  /** Tradier says what time it is. */
  tell(ms: number): void {
    if (Math.abs(ms - this.nowMs()) <= SAME_MS) return
    const aheadMs = ms - epochMs(this.#clock.now())
    this.#aheadMs = Math.abs(aheadMs) <= SAME_MS ? 0 : aheadMs
  }

  /** Something happened then, so it is at least that late. */
  happened(ms: number): void {
    if (ms > this.nowMs() + SAME_MS) this.#aheadMs = ms - epochMs(this.#clock.now())
  }
}
