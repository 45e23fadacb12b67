/** Requests of each user in each minute of the real clock, as Alpaca counts and shows them. */

import type { Limits } from './limits.ts'

export interface Left {
  readonly limit: number
  readonly remaining: number
  /** When the minute ends: whole seconds since the epoch. */
  readonly resetS: number
}

interface Minute {
  readonly number: number
  readonly counts: Map<string, number>
}

export class Limiter {
  readonly #limits: Pick<Limits, 'requestsPerMinute'>
  /** Real time in milliseconds. */
  readonly #now: () => number
  #minute: Minute = { number: 0, counts: new Map() }

  constructor(limits: Pick<Limits, 'requestsPerMinute'>, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  /** Counts one request. @returns false where it is beyond the limit */
  take(who: string): boolean {
    const { counts } = this.#present()
    const count = (counts.get(who) ?? 0) + 1
    counts.set(who, count)
    return count <= this.#limits.requestsPerMinute
  }

  left(who: string): Left {
    const { number, counts } = this.#present()
    const { requestsPerMinute: limit } = this.#limits
    return { limit, remaining: Math.max(0, limit - (counts.get(who) ?? 0)), resetS: (number + 1) * 60 }
  }

  #present(): Minute {
    const number = Math.floor(this.#now() / 60_000)
    if (number !== this.#minute.number) this.#minute = { number, counts: new Map() }
    return this.#minute
  }
}
