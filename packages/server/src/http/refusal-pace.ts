import type { Clock } from '@trunkline/core/ports/clock'
import { type Rate, RateLimiter } from '../auth/rate-limit.ts'

export interface RefusalLimits {
  /** Refusals sent without delay, over all clients. */
  readonly prompt: Rate
  /** The delay of all others, in milliseconds. */
  readonly waitMs: number
  /** The most refusals that are delayed at a time; above it they are sent without delay. */
  readonly waitingMax: number
}

const EVERYBODY = 'everybody'

/**
 * Delays refusals (401, 429) while there are many of them. Each is cheap, but clients that retry at once would otherwise fill the event
 * loop with thousands a second. Because only refusals are delayed, one global limit is enough, without a key that an attacker could choose:
 * accepted requests are not slowed down, and an honest mistake during a flood is refused half a second later.
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

  /** Calls `send` exactly once, now or after the delay. `send` must not throw. */
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

  /** Sends all delayed refusals. Later ones are sent without delay. */
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
