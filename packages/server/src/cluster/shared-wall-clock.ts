import type { Log } from '@trunkline/core/ports/log'

/** A wall clock that can be corrected. */
export interface CorrectableClock {
  /** What the machine's clock shows, uncorrected. */
  machineMs(): number
  /** What wall time has beyond the machine's. */
  readonly correctionMs: number
  correctBy(ms: number): void
  /** From now on a machine whose clock is set does not change wall time, until it is corrected. */
  keepWhenSet(): void
}

/** A machine whose clock is this near to the database's keeps its own: reading another one is not more exact. */
const NEAR_MS = 1_000
/** One that follows the database's keeps its own again only when it is this near, so that it does not change its mind with each reading. */
const NEAR_AGAIN_MS = 500
/** A correction is replaced when it is this far off. */
const DRIFT_MS = 100
/** A reading that took longer says too little, unless there is no better one yet. */
const READING_MS_MAX = 400

/**
 * Keeps the wall clocks of the nodes together: a node whose clock differs from the database's by more than a second follows that one. An
 * order that one node has entered is compared with the broker's times by another one, which would otherwise look for it at a wrong time.
 * A machine whose clock is set between two readings keeps its time, so that no order is entered at a wrong one.
 */
export class SharedWallClock {
  readonly #clock: CorrectableClock
  readonly #log: Log
  readonly #nowMs: () => number
  #isRead = false
  /** The correction that was warned of. */
  #knownMs = 0

  /** @param nowMs the clock of the times that `read` is given */
  constructor(clock: CorrectableClock, nowMs: () => number, log: Log) {
    this.#clock = clock
    this.#nowMs = nowMs
    this.#log = log
  }

  /** The database's clock showed `wallMs` at some moment between the two others. */
  read(wallMs: number, sentMs: number, cameMs: number): void {
    if (this.#isRead && cameMs - sentMs > READING_MS_MAX) return
    if (!this.#isRead) this.#clock.keepWhenSet()
    this.#isRead = true
    const { correctionMs: presentMs } = this.#clock
    const aheadMs = wallMs + this.#nowMs() - (sentMs + cameMs) / 2 - this.#clock.machineMs()
    const nearMs = presentMs === 0 ? NEAR_MS : NEAR_AGAIN_MS
    const correctionMs = Math.abs(aheadMs) > nearMs ? aheadMs : 0
    if (Math.abs(correctionMs - this.#knownMs) > NEAR_MS) {
      this.#knownMs = correctionMs
      this.#log.warn('the clock of this machine differs from the database’s; wall time follows the database', {
        aheadMs: Math.round(aheadMs)
      })
    }
    if (Math.abs(correctionMs - presentMs) > DRIFT_MS) this.#clock.correctBy(correctionMs)
  }
}
