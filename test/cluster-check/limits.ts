// Limits of time, as the machine allows: a busy one gives no finding, and a gap of a minute is one wherever time can be judged.
import { PATIENCE_MS } from '@trunkline/testkit/patience'

export interface Limit {
  /** On a machine that nothing else uses. */
  readonly ms: number
  /** How many things have to happen one after the other, each as late as the machine is at most. */
  readonly steps: number
  /** No machine on which time can be judged allows more. */
  readonly most: number
}

/** Shorter than a minute by far. */
const GAP_MS_MAX = 45_000
/** Where something is later than this, an honest cluster may take a minute too: nothing is judged by time, and the round shows that. */
export const TOO_LATE_MS = 1_200

export const LIMITS = {
  /** From when a node was kept from its users to an accepted order of each. */
  ownerless: { ms: 10_000, steps: 30, most: GAP_MS_MAX },
  /** A live session behind the log. */
  behind: { ms: 3_000, steps: 15, most: GAP_MS_MAX },
  /** A session that has to connect and resume: the slot of a lost one is freed only after a while. */
  apart: { ms: 20_000, steps: 30, most: GAP_MS_MAX },
  /** A request that is repeated while nothing is disturbed. */
  answer: { ms: 15_000, steps: 30, most: GAP_MS_MAX },
  /** Until all nodes are ready: programs start. */
  whole: { ms: 30_000, steps: 60, most: PATIENCE_MS },
  /** Until all sources agree: a cancel that was never answered is given up after half a minute. */
  agreement: { ms: 60_000, steps: 60, most: PATIENCE_MS }
} as const satisfies Readonly<Record<string, Limit>>

/** @param lateMs how late the machine was meanwhile */
export function allowedMs({ ms, steps, most }: Limit, lateMs: number): number {
  return lateMs > TOO_LATE_MS ? PATIENCE_MS : Math.min(most, ms + steps * lateMs)
}

export interface Now {
  readonly ms: number
  readonly lateMs: (since: number) => number
}

/** A wait. Time in which something else may be the reason does not count. */
export class Wait {
  readonly #limit: Limit
  #from: number

  constructor(limit: Limit, from: number) {
    this.#limit = limit
    this.#from = from
  }

  /** How long it has lasted. */
  passedMs({ ms }: Now): number {
    return ms - this.#from
  }

  /** @param isExcused whether something else may be the reason now */
  isTooLong(now: Now, isExcused = false): boolean {
    if (isExcused) this.#from = now.ms
    return this.passedMs(now) > allowedMs(this.#limit, now.lateMs(this.#from))
  }
}

/** Who has not reached what others had at a time, and since when. */
export class Behind {
  readonly #waits = new Map<string, { readonly target: number; readonly wait: Wait }>()

  /** How long it has been behind if that is too long; null otherwise. */
  tooLongMs(name: string, has: number, target: number, limit: Limit, now: Now): number | null {
    const known = this.#waits.get(name)
    if (has >= target) {
      this.#waits.delete(name)
      return null
    }
    if (known === undefined || has >= known.target) {
      this.#waits.set(name, { target, wait: new Wait(limit, now.ms) })
      return null
    }
    return known.wait.isTooLong(now) ? known.wait.passedMs(now) : null
  }
}

/** Since when nothing is disturbed and every node is ready. */
export class Calm {
  readonly #isReady: () => boolean
  readonly #nowMs: () => number
  #going = 0
  #since: number

  constructor(isReady: () => boolean, nowMs: () => number) {
    this.#isReady = isReady
    this.#nowMs = nowMs
    this.#since = nowMs()
  }

  /** Disturbances that go on. */
  get going(): number {
    return this.#going
  }

  began(): void {
    this.#going += 1
    this.look()
  }

  ended(): void {
    this.#going -= 1
    this.look()
  }

  /** Whether it is calm now. */
  look(): boolean {
    const isCalm = this.#going === 0 && this.#isReady()
    if (!isCalm) this.#since = this.#nowMs()
    return isCalm
  }

  /** Of the last look that found it not calm. */
  get since(): number {
    return this.#since
  }
}
