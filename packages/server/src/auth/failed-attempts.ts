import type { Attempt, AttemptLimits } from '@trunkline/core/app/authenticate'
import { ServiceError } from '@trunkline/core/domain/errors'
import { addressGroup } from './address.ts'
import { type Allowance, type Rate, RateLimiter } from './rate-limit.ts'

/** Failures with one client id, or one user of a platform, from wherever they come: many times what one address may have. */
const NAME = { perSecond: 10, burst: 1_000 }
const GOOD_MAX = 20_000
const TOO_MANY = 'Too many failed authentications. Wait as long as the retry-after header says.'

/** There were too many failures. */
export class TooManyFailures extends ServiceError {
  readonly allowance: Allowance
  /** This was one more: it was looked up. Otherwise nothing was. */
  readonly isFailure: boolean

  constructor(allowance: Allowance, isFailure: boolean) {
    super('rate_limited', TOO_MANY, { retryAfterSeconds: allowance.retryAfterSeconds ?? 1 })
    this.allowance = allowance
    this.isFailure = isFailure
  }
}

/**
 * Bounds the look-ups that wrong credentials cost: failures are counted by address and by the name they were tried with, and beyond the bounds
 * an attempt is refused before anything is looked up. Only a secret that was good lately is looked up all the same: a platform's back end is
 * one address for many users, and whoever fails beside it, or in its name, must not lock it out. What it is known by is the secret's hash, so
 * that somebody else at its address, or with its client id, gains nothing.
 */
export class FailedAttempts implements AttemptLimits {
  readonly #addresses: RateLimiter
  readonly #names: RateLimiter
  readonly #monotonicMs: () => number
  /** Names and hashes of secrets that went well together lately; newest last, bounded. */
  readonly #good = new Set<string>()

  constructor(ofAddress: Rate, monotonicMs: () => number, ofName: Rate = NAME) {
    this.#addresses = new RateLimiter(ofAddress)
    this.#names = new RateLimiter(ofName)
    this.#monotonicMs = monotonicMs
  }

  demandCalm(attempt: Attempt): void {
    if (this.#good.has(pairOf(attempt))) return
    const now = this.#monotonicMs()
    const ofName = attempt.name === null ? null : this.#names.peek(attempt.name, now)
    const ofAddress = attempt.address === null ? null : this.#addresses.peek(addressGroup(attempt.address), now)
    for (const left of [ofName, ofAddress]) if (left !== null && left.retryAfterSeconds !== null) throw new TooManyFailures(left, false)
  }

  failed(attempt: Attempt): void {
    const now = this.#monotonicMs()
    this.forget(attempt)
    if (attempt.name !== null) this.#names.take(attempt.name, now)
    if (attempt.address === null) return
    const left = this.#addresses.take(addressGroup(attempt.address), now)
    if (left.retryAfterSeconds !== null) throw new TooManyFailures(left, true)
  }

  /** The secret is not good any more. */
  forget(attempt: Attempt): void {
    this.#good.delete(pairOf(attempt))
  }

  proved(attempt: Attempt): void {
    const pair = pairOf(attempt)
    if (this.#good.has(pair)) return
    const [oldest] = this.#good.size >= GOOD_MAX ? this.#good : []
    if (oldest !== undefined) this.#good.delete(oldest)
    this.#good.add(pair)
  }
}

function pairOf({ name, secretHash }: Attempt): string {
  return `${secretHash} ${name}`
}
