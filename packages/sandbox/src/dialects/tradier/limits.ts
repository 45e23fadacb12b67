/** How often a token may come: minutes that begin with the first request, counted by class. */

import type { RequestClass, TradierOptions } from './options.ts'

export interface Standing {
  readonly allowed: number
  readonly used: number
  /** Real time, milliseconds. */
  readonly endsAt: number
}

interface Minute {
  readonly endsAt: number
  used: number
}

const MINUTE_MS = 60_000
/** Minutes remembered; those over are swept when there are more. */
const MINUTES_MAX = 10_000

export class Limits {
  readonly #limits: TradierOptions['limits']
  readonly #now: () => number
  readonly #minutes = new Map<string, Minute>()

  /** `now` is real time in milliseconds. */
  constructor(limits: TradierOptions['limits'], now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  /** Counts a request. @returns false where it is one too many */
  take(token: string, kind: RequestClass): boolean {
    const minute = this.#minuteOf(token, kind)
    if (minute.used >= this.#limits[kind]) return false
    minute.used++
    return true
  }

  standing(token: string, kind: RequestClass): Standing {
    const { used, endsAt } = this.#minuteOf(token, kind)
    return { allowed: this.#limits[kind], used, endsAt }
  }

  #minuteOf(token: string, kind: RequestClass): Minute {
    const key = `${kind} ${token}`
    const now = this.#now()
    const known = this.#minutes.get(key)
    if (known !== undefined && known.endsAt > now) return known
    if (this.#minutes.size >= MINUTES_MAX) this.#sweep(now)
    const fresh = { endsAt: now + MINUTE_MS, used: 0 }
    this.#minutes.set(key, fresh)
    return fresh
  }

  #sweep(now: number): void {
    for (const [key, { endsAt }] of this.#minutes) if (endsAt <= now) this.#minutes.delete(key)
    for (const oldest of this.#minutes.keys()) {
      if (this.#minutes.size < MINUTES_MAX) break
      this.#minutes.delete(oldest)
    }
  }
}
