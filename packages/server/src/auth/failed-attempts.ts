import type { Attempt, AttemptLimits } from '@trunkline/core/app/authenticate'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { Bus } from '@trunkline/core/ports/bus'
import { LRUCache } from 'lru-cache'
import { addressGroup } from './address.ts'
import { type Allowance, type Rate, RateLimiter } from './rate-limit.ts'

/** Failures with one client id, or one user of a platform, from wherever they come: many times what one address may have. */
const NAME = { perSecond: 10, burst: 1_000 }
/** As many as an address may have connections that prove nothing: a back end's first requests all come before the first of them is answered. */
const UNDER_WAY_MAX = 2_048
/** Of keys and tokens, and of users: apart, so that a platform with many users displaces no key. */
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
 * an attempt is refused before anything is looked up. Only a secret that was good lately, or was issued lately, is looked up all the same: a
 * platform's back end is one address for many users, and a caller that fails beside it, or in its name, must not lock it out. What it is known by is
 * the secret's hash, so that another caller at its address, or with its client id, gains nothing.
 */
export class FailedAttempts implements AttemptLimits {
  readonly #addresses: RateLimiter
  readonly #names: RateLimiter
  readonly #monotonicMs: () => number
  /** Look-ups that are under way, by address, of secrets that were not good lately. */
  readonly #underWay = new Map<string, number>()
  readonly #counted = new WeakSet<Attempt>()
  readonly #underWayMax: number
  /** Names and hashes of secrets that went well together lately. At the bound the one that was not used for longest is forgotten. */
  readonly #goodKeys = new LRUCache<string, true>({ max: GOOD_MAX })
  readonly #goodUsers = new LRUCache<string, true>({ max: GOOD_MAX })

  constructor(ofAddress: Rate, monotonicMs: () => number, ofName: Rate = NAME, underWayMax = UNDER_WAY_MAX) {
    this.#underWayMax = underWayMax
    this.#addresses = new RateLimiter(ofAddress)
    this.#names = new RateLimiter(ofName)
    this.#monotonicMs = monotonicMs
  }

  /** From now on secrets are known as good from the moment they are issued: their owner has not used them, and may be under a flood. */
  listenTo(bus: Pick<Bus, 'subscribe'>): () => void {
    return bus.subscribe(
      message => {
        if (message.type !== 'secret_issued') return
        this.#goodOf(message.of).set(pairOf(message), true)
      },
      ['secret_issued']
    )
  }

  demandCalm(attempt: Attempt): void {
    if (this.#goodOf(attempt.of).get(pairOf(attempt)) === true) return
    const now = this.#monotonicMs()
    const group = groupOf(attempt)
    const ofName = attempt.name === null ? null : this.#names.peek(attempt.name, now)
    const ofAddress = group === null ? null : this.#addresses.peek(group, now)
    for (const left of [ofName, ofAddress]) if (left !== null && left.retryAfterSeconds !== null) throw new TooManyFailures(left, false)
    if (group === null) return
    const others = this.#underWay.get(group) ?? 0
    if (ofAddress !== null && others >= this.#underWayMax)
      throw new TooManyFailures({ ...ofAddress, remaining: 0, retryAfterSeconds: 1 }, false)
    this.#underWay.set(group, others + 1)
    this.#counted.add(attempt)
  }

  failed(attempt: Attempt): void {
    this.undecided(attempt)
    this.forget(attempt)
    const now = this.#monotonicMs()
    if (attempt.name !== null) this.#names.take(attempt.name, now)
    const group = groupOf(attempt)
    if (group === null) return
    const left = this.#addresses.take(group, now)
    if (left.retryAfterSeconds !== null) throw new TooManyFailures(left, true)
  }

  undecided(attempt: Attempt): void {
    const group = groupOf(attempt)
    if (group === null || !this.#counted.delete(attempt)) return
    const others = (this.#underWay.get(group) ?? 1) - 1
    if (others > 0) this.#underWay.set(group, others)
    else this.#underWay.delete(group)
  }

  /** The secret is not good any more. */
  forget(attempt: Attempt): void {
    this.#goodOf(attempt.of).delete(pairOf(attempt))
  }

  proved(attempt: Attempt): void {
    this.undecided(attempt)
    this.#goodOf(attempt.of).set(pairOf(attempt), true)
  }

  #goodOf(of: Attempt['of']): LRUCache<string, true> {
    return of === 'user' ? this.#goodUsers : this.#goodKeys
  }
}

function groupOf({ address }: Attempt): string | null {
  return address === null ? null : addressGroup(address)
}

function pairOf({ name, secretHash }: Pick<Attempt, 'name' | 'secretHash'>): string {
  return `${secretHash} ${name}`
}
