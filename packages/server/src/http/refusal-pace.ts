import type { Clock } from '@trunkline/core/ports/clock'
import { type Rate, RateLimiter } from '../auth/rate-limit.ts'

export interface RefusalLimits {
  /** Refusals that are sent at once, over all clients. */
  readonly prompt: Rate
  /** What others wait, in milliseconds. */
  readonly waitMs: number
  /** Refusals that wait at a time; beyond it, they are sent at once. */
  readonly waitingMax: number
}

const EVERYBODY = 'everybody'

/**
 * Delays refusals (401, 429) while there are many of them. A client that asks again as soon as it is refused otherwise takes every turn of the
 * event loop: each refusal is cheap, and thousands a second are not. Only refusals wait, so that the limit needs no key that an attacker could
 * choose: callers that are served are not slowed, and an honest mistake during a flood is refused half a second later.
 */
export class RefusalPace {
  readonly #clock: Clock
  readonly #limits: RefusalLimits
  readonly #prompt: RateLimiter
  readonly #waiting = new Map<() => void, Disposable>()
  #isEnded = false

  constructor(clock: Clock, limits: RefusalLimits) {
    this.#clock = clock
    this.#limits = limits
    this.#prompt = new RateLimiter(limits.prompt)
  }

  /** Calls `send` at once or later, and exactly once. `send` must not throw. */
  pace(send: () => void): void {
    if (this.#isEnded || this.#waiting.size >= this.#limits.waitingMax || this.#isPrompt()) {
      send()
      return
    }
    const alarm = this.#clock.alarm(this.#limits.waitMs, () => {
      this.#waiting.delete(send)
      send()
    })
    this.#waiting.set(send, alarm)
  }

  /** Sends what waits; later refusals are sent at once. */
  end(): void {
    this.#isEnded = true
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const [send, alarm] of waiting) {
      alarm[Symbol.dispose]()
      send()
    }
  }

  #isPrompt(): boolean {
    return this.#prompt.take(EVERYBODY, this.#clock.monotonicMs()).retryAfterSeconds === null
  }
}
