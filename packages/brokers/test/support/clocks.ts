/** Clocks for tests: the machine's, and one that moves only on command. */

import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'

export const systemClock: Clock = {
  now: () => timestampOfMs(performance.timeOrigin + performance.now()),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
  alarm: (ms, ring) => setTimeout(ring, ms),
  nextTurn: () => immediate()
}

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

/** Starts at 2026-01-05T15:00:00Z. */
export class VirtualClock implements Clock {
  #nowMs = 1_000
  readonly #sleepers = new Set<Sleeper>()

  now() {
    return timestampOfMs(Date.UTC(2026, 0, 5, 15) + this.#nowMs - 1_000)
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const sleeper = { until: this.#nowMs + ms, wake: resolve }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper)
        reject(signal.reason)
      })
    })
  }

  alarm(ms: number, ring: () => void): Disposable {
    const sleeper = { until: this.#nowMs + ms, wake: ring }
    this.#sleepers.add(sleeper)
    return { [Symbol.dispose]: () => void this.#sleepers.delete(sleeper) }
  }

  async nextTurn(): Promise<void> {}

  get sleepers(): number {
    return this.#sleepers.size
  }

  /** Milliseconds until the next sleeper wakes; null when none sleeps. */
  get nextMs(): number | null {
    return this.#sleepers.size === 0 ? null : Math.min(...[...this.#sleepers].map(sleeper => sleeper.until)) - this.#nowMs
  }

  /** Moves on step by step, letting each sleeper that wakes do its work before time goes on. */
  async advance(ms: number): Promise<void> {
    const end = this.#nowMs + ms
    for (;;) {
      await settled()
      const next = [...this.#sleepers].filter(sleeper => sleeper.until <= end).sort((a, b) => a.until - b.until)[0]
      if (next === undefined) break
      this.#nowMs = Math.max(this.#nowMs, next.until)
      this.#sleepers.delete(next)
      next.wake()
    }
    this.#nowMs = end
    await settled()
  }
}

/** Lets every promise that can settle without I/O do so. */
export async function settled(): Promise<void> {
  for (let tick = 0; tick < 20; tick += 1) await new Promise<void>(resolve => setImmediate(resolve))
}
