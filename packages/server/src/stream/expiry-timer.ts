import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'

/** Timers are shorter than the lifetime of a key, and clocks are adjusted: checked again this often. */
const STEP_MS = 60_000

/** Calls back at a time of the wall clock. Until then the time can be changed or removed. */
export class ExpiryTimer {
  readonly #clock: Clock
  readonly #over: () => void
  #alarm: Disposable | null = null
  #isStopped = false

  constructor(clock: Clock, over: () => void) {
    this.#clock = clock
    this.#over = over
  }

  /** Null: there is no end. */
  endAt(at: Timestamp | null): void {
    this.#alarm?.[Symbol.dispose]()
    this.#alarm = null
    if (at === null || this.#isStopped) return
    const leftMs = epochMs(at) - epochMs(this.#clock.now())
    if (leftMs <= 0) this.#over()
    else this.#alarm = this.#clock.alarm(Math.min(leftMs, STEP_MS), () => this.endAt(at))
  }

  stop(): void {
    this.#isStopped = true
    this.endAt(null)
  }
}
