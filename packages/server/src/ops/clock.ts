import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'

/** Fixed at start. Read once, because reading it costs more than the time itself. */
const ORIGIN_MS = performance.timeOrigin

/** The machine's clock. Wall time follows the monotonic clock between readings, so that it has microseconds. */
export class SystemClock implements Clock {
  #correctionMs = 0

  now(): Timestamp {
    return timestampOfMs(this.machineMs() + this.#correctionMs)
  }

  /** The machine's wall clock, uncorrected. */
  machineMs(): number {
    // A wall clock set after the start must win, so the origin is only used for the fraction.
    const wall = Date.now()
    const fine = ORIGIN_MS + performance.now()
    const drift = Math.abs(fine - wall)
    return drift < 5 ? fine : wall
  }

  /** Wall time is the machine's plus this from now on. */
  correctBy(ms: number): void {
    this.#correctionMs = ms
  }

  monotonicMs(): number {
    return performance.now()
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await sleep(ms, undefined, signal === undefined ? { ref: true } : { signal })
  }

  alarm(ms: number, ring: () => void): Disposable {
    return setTimeout(ring, ms)
  }

  nextTurn(): Promise<void> {
    return setImmediate()
  }
}
