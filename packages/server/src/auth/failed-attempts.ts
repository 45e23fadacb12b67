import type { Attempt, AttemptLimits } from '@trunkline/core/app/authenticate'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { Bus } from '@trunkline/core/ports/bus'
import { LRUCache } from 'lru-cache'
import { addressGroup } from './address.ts'
import { type Allowance, type Rate, RateLimiter, type SharedLimit, type SharedLimits } from './rate-limit.ts'

/** Failures for one client id, or one user of a platform, from all addresses: many times the limit of one address. */
const NAME = { perSecond: 10, burst: 1_000 }
/** As many as an address's unauthenticated connections: the first requests of a back end all arrive before the first is answered. */
const UNDER_WAY: UnderWay = { ofAddress: 2_048, inAll: Number.POSITIVE_INFINITY }
/** Cached keys and tokens, and cached users: separate, so that a platform with many users displaces no key. */
const GOOD_MAX = 20_000
const TOO_MANY = 'Too many failed authentications. Wait as long as the retry-after header says.'

/** How many look-ups are under way at once, but for secrets that were valid lately. One more is refused for a second. */
export interface UnderWay {
  readonly ofAddress: number
  readonly inAll: number
}

/** The limits of failures that the nodes of a cluster share. */
export interface SharedFailures {
  readonly addresses: SharedLimit
  readonly names: SharedLimit
}

/** Those of `what`; null where there is one node. */
export function sharedFailures(limits: SharedLimits | null, what: 'rest' | 'stream' | 'market'): SharedFailures | null {
  return limits === null ? null : { addresses: limits(`${what}_failures_of_address`), names: limits(`${what}_failures_of_name`) }
}

/** Too many attempts failed. */
export class TooManyFailures extends ServiceError {
  readonly allowance: Allowance
  /** Whether this attempt was looked up and failed too; otherwise nothing was looked up. */
  readonly isFailure: boolean

  constructor(allowance: Allowance, isFailure: boolean) {
    super('rate_limited', TOO_MANY, { retryAfterSeconds: allowance.retryAfterSeconds ?? 1 })
    this.allowance = allowance
    this.isFailure = isFailure
  }
}

/**
 * Limits the look-ups that wrong credentials cost: failures are counted by address and by client name, and beyond the limits an attempt is
 * refused before any look-up. A secret that was valid or issued lately is exempt: a platform's back end is one address for many users, and
 * a caller that fails beside it, or with its name, must not lock it out. The exemption is by the secret's hash, so another caller at the
 * same address or with the same client id gains nothing.
 */
export class FailedAttempts implements AttemptLimits {
  readonly #addresses: RateLimiter
  readonly #names: RateLimiter
  readonly #monotonicMs: () => number
  /** Look-ups under way by address, except for secrets that were valid lately. */
  readonly #underWay = new Map<string, number>()
  readonly #counted = new WeakSet<Attempt>()
  readonly #underWayMax: UnderWay
  #underWayInAll = 0
  /** Names of secrets that were valid lately, by hash. At the limit the least recently used is evicted. */
  readonly #goodKeys = new LRUCache<string, string>({ max: GOOD_MAX })
  readonly #goodUsers = new LRUCache<string, string>({ max: GOOD_MAX })

  /** @param shared what the nodes of a cluster share; null where there is one */
  constructor(
    ofAddress: Rate,
    monotonicMs: () => number,
    ofName: Rate = NAME,
    underWayMax = UNDER_WAY,
    shared: SharedFailures | null = null
  ) {
    this.#underWayMax = underWayMax
    this.#addresses = new RateLimiter(ofAddress, undefined, shared?.addresses ?? null)
    this.#names = new RateLimiter(ofName, undefined, shared?.names ?? null)
    this.#monotonicMs = monotonicMs
  }

  /** Makes issued secrets exempt at once: their owner has not used them yet, and may be under a flood. */
  listenTo(bus: Pick<Bus, 'subscribe'>): () => void {
    return bus.subscribe(
      message => {
        if (message.type !== 'secret_issued') return
        this.#goodOf(message.of).set(message.secretHash, nameOf(message))
      },
      ['secret_issued']
    )
  }

  demandCalm(attempt: Attempt): void {
    if (this.#isGood(attempt)) return
    const now = this.#monotonicMs()
    const group = groupOf(attempt)
    const ofName = attempt.name === null ? null : this.#names.peek(attempt.name, now)
    const ofAddress = group === null ? null : this.#addresses.peek(group, now)
    for (const left of [ofName, ofAddress]) if (left !== null && left.retryAfterSeconds !== null) throw new TooManyFailures(left, false)
    if (group === null) return
    const others = this.#underWay.get(group) ?? 0
    if (ofAddress !== null && (others >= this.#underWayMax.ofAddress || this.#underWayInAll >= this.#underWayMax.inAll))
      throw new TooManyFailures({ ...ofAddress, remaining: 0, retryAfterSeconds: 1 }, false)
    this.#underWay.set(group, others + 1)
    this.#underWayInAll += 1
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
    if (!this.#counted.delete(attempt)) return
    const group = groupOf(attempt)
    if (group === null) return
    this.#underWayInAll -= 1
    const others = (this.#underWay.get(group) ?? 1) - 1
    if (others > 0) this.#underWay.set(group, others)
    else this.#underWay.delete(group)
  }

  /** As {@link undecided}, and counted for its address as a failure, but for a secret that was valid lately: the look-up cost as much. */
  unanswered(attempt: Attempt): void {
    this.undecided(attempt)
    const group = groupOf(attempt)
    if (group !== null && !this.#isGood(attempt)) this.#addresses.take(group, this.#monotonicMs())
  }

  /** The secret is no longer valid. */
  forget(attempt: Attempt): void {
    if (this.#isGood(attempt)) this.#goodOf(attempt.of).delete(attempt.secretHash)
  }

  proved(attempt: Attempt): void {
    this.undecided(attempt)
    if (!this.#isGood(attempt)) this.#goodOf(attempt.of).set(attempt.secretHash, nameOf(attempt))
  }

  #isGood(attempt: Attempt): boolean {
    return this.#goodOf(attempt.of).get(attempt.secretHash) === nameOf(attempt)
  }

  #goodOf(of: Attempt['of']): LRUCache<string, string> {
    return of === 'user' ? this.#goodUsers : this.#goodKeys
  }
}

function groupOf({ address }: Attempt): string | null {
  return address === null ? null : addressGroup(address)
}

function nameOf({ name }: Pick<Attempt, 'name'>): string {
  return name ?? ''
}
