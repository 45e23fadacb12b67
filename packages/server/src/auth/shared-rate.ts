import { type Allowance, type Rate, RateLimiter, type SharedLimit } from './rate-limit.ts'

/** The part of an owner's bucket that is reserved for keys that use little; each key may always use that share of the owner's rate. */
const RESERVED = 0.25

/**
 * Token buckets of owners (platforms), shared by their keys; in a cluster the nodes share both kinds of buckets too. A single key has its
 * owner's whole bucket. From the last quarter, each key takes from a separate bucket, so that a runaway key leaves the others a quarter of
 * the rate. More than four runaway keys share the rest.
 */
export class SharedRate {
  readonly #reserve: number
  readonly #share: () => number
  readonly #owners: RateLimiter
  readonly #keys: RateLimiter

  /** @param shared what the nodes of a cluster share; absent where there is one */
  constructor({ perSecond, burst }: Rate, shared: { readonly owners: SharedLimit; readonly keys: SharedLimit } | null = null) {
    this.#reserve = Math.floor(burst * RESERVED)
    this.#share = () => shared?.owners.share ?? 1
    this.#owners = new RateLimiter({ perSecond, burst }, undefined, shared?.owners ?? null)
    const ofKey = { perSecond: perSecond * RESERVED, burst: Math.max(1, this.#reserve) }
    this.#keys = new RateLimiter(ofKey, undefined, shared?.keys ?? null)
  }

  /** Takes one request from the owner's bucket if the key may, and returns the key's state. `nowMs` is monotonic. */
  take(owner: string, key: string, nowMs: number): Allowance {
    const ofOwner = this.#owners.peek(owner, nowMs)
    if (ofOwner.remaining > this.#reserve * this.#share() || ofOwner.retryAfterSeconds !== null) return this.#owners.take(owner, nowMs)
    const own = this.#keys.take(key, nowMs)
    if (own.retryAfterSeconds !== null) return { ...ofOwner, remaining: 0, retryAfterSeconds: own.retryAfterSeconds }
    const taken = this.#owners.take(owner, nowMs)
    return { ...taken, remaining: Math.min(taken.remaining, own.remaining) }
  }

  /** Returns one {@link take} that was just granted and led to nothing. */
  giveBack(owner: string, key: string, nowMs: number): void {
    if (this.#owners.peek(owner, nowMs).remaining < this.#reserve * this.#share()) this.#keys.giveBack(key)
    this.#owners.giveBack(owner)
  }
}
