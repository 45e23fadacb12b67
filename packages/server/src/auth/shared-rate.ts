import { type Allowance, type Rate, RateLimiter } from './rate-limit.ts'

/** The part of an owner's bucket that is reserved for keys that use little; each key may always use that share of the owner's rate. */
const RESERVED = 0.25

/**
 * Token buckets of owners, shared by their keys. A single key has its owner's whole bucket. From the last quarter, each key takes from a
 * separate bucket, so that a runaway key leaves the others a quarter of the rate. More than four runaway keys share the rest.
 */
export class SharedRate {
  readonly #reserve: number
  readonly #owners: RateLimiter
  readonly #keys: RateLimiter

  constructor({ perSecond, burst }: Rate) {
    this.#reserve = Math.floor(burst * RESERVED)
    this.#owners = new RateLimiter({ perSecond, burst })
    this.#keys = new RateLimiter({ perSecond: perSecond * RESERVED, burst: Math.max(1, this.#reserve) })
  }

  /** Takes one request from the owner's bucket if the key may, and returns the key's state. `nowMs` is monotonic. */
  take(owner: string, key: string, nowMs: number): Allowance {
    const shared = this.#owners.peek(owner, nowMs)
    if (shared.remaining > this.#reserve || shared.retryAfterSeconds !== null) return this.#owners.take(owner, nowMs)
    const own = this.#keys.take(key, nowMs)
    if (own.retryAfterSeconds !== null) return { ...shared, remaining: 0, retryAfterSeconds: own.retryAfterSeconds }
    const taken = this.#owners.take(owner, nowMs)
    return { ...taken, remaining: Math.min(taken.remaining, own.remaining) }
  }

  /** Returns one {@link take} that was just granted and led to nothing. */
  giveBack(owner: string, key: string, nowMs: number): void {
    if (this.#owners.peek(owner, nowMs).remaining < this.#reserve) this.#keys.giveBack(key)
    this.#owners.giveBack(owner)
  }
}
