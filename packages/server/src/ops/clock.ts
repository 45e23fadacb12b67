import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'

/** Fixed at start. Read once, because reading it costs more than the time itself. */
const ORIGIN_MS = performance.timeOrigin

/** By how much a clock that was set differs from the monotonic one at once. What is less is left to the next correction. */
const SET_MS = 1_000

/** The machine's clock. Wall time follows the monotonic clock between readings, so that it has microseconds. */
export class SystemClock implements Clock {
  #correctionMs = 0
  /** Both clocks when they were read last; null: a clock that is set is followed. */
  #last: { readonly machineMs: number; readonly monotonicMs: number } | null = null

  now(): Timestamp {
    const machineMs = this.machineMs()
    const last = this.#last
    if (last !== null) {
      const monotonicMs = this.monotonicMs()
      const setByMs = machineMs - last.machineMs - (monotonicMs - last.monotonicMs)
      if (Math.abs(setByMs) > SET_MS) this.#correctionMs -= setByMs
      this.#last = { machineMs, monotonicMs }
    }
    return timestampOfMs(machineMs + this.#correctionMs)
  }

  /** What wall time has beyond the machine's. */
  get correctionMs(): number {
    this.now()
    return this.#correctionMs
  }

  /** From now on a machine whose clock is set does not change wall time, until it is corrected. */
  keepWhenSet(): void {
    this.#last ??= this.#both()
  }

  #both() {
    return { machineMs: this.machineMs(), monotonicMs: this.monotonicMs() }
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
    if (this.#last !== null) this.#last = this.#both()
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
