/** The present time of a market whose broker reports whole seconds: the machine's, unless the two differ, as they may in a sandbox. */

import { epochMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'

/** Within this the machine's clock is as good. */
const SAME_MS = 2_000

/** Advanced by the monotonic clock: a wall clock that is set while a market is followed moves none of its bars. */
export class MarketTime {
  readonly #clock: Clock
  /** The market's time less the monotonic clock. */
  #apartMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#apartMs = epochMs(clock.now()) - clock.monotonicMs()
  }

  /** Milliseconds since the epoch. */
  nowMs(): number {
    return this.#clock.monotonicMs() + this.#apartMs
  }

  /** The broker's time, in milliseconds since the epoch. */
  sync(ms: number): void {
    if (Math.abs(ms - this.nowMs()) > SAME_MS) this.#set(ms)
  }

  /** An event of this time occurred, so it is at least that late. */
  happened(ms: number): void {
    if (ms > this.nowMs() + SAME_MS) this.#set(ms)
  }

  #set(ms: number): void {
    const own = epochMs(this.#clock.now())
    this.#apartMs = (Math.abs(ms - own) <= SAME_MS ? own : ms) - this.#clock.monotonicMs()
  }
}
