/** A broker's rate limit, enforced on our side: a token bucket with priority for orders and a bounded wait. */

import type { Clock } from '@trunkline/core/ports/clock'

export interface RateLimits {
  readonly perSecond: number
  /** Calls that may be made at once after a quiet time. */
  readonly burst: number
  /** Calls of the burst that reads must leave to orders. */
  readonly reservedForOrders: number
  /** Calls that may wait; another one is refused. */
  readonly waitingMax: number
  /** A call that would have to wait longer is refused at once. */
  readonly waitMsMax: number
}

export type CallPriority = 'order' | 'read'

/** The state of its own limit, as a broker reports it. */
export interface BrokerLimits {
  /** Calls that may still be made; below 0 counts as 0. */
  readonly remaining: number
  /** Time until it resets. */
  readonly resetInMs: number
  /** Calls that may be made after the reset; if the broker does not state it, our own rate applies until the next answer. */
  readonly limit?: number
}

interface RemainingQuota {
  calls: number
  readonly endsAt: number
  /** Number of the call whose answer reported this, or of the first call after it. */
  readonly since: number
  readonly limit: number | undefined
  /** The broker's limit should have reset by now, but no answer has confirmed it. */
  readonly isGuess: boolean
}

/** Upper bound of a reported reset: a later one is an error of the broker, or of its clock. */
export const RESET_MS_MAX = 3_600_000
/** How long an assumed full quota applies when none of its calls is answered: the true quota is unknown then, and few calls use it. */
const UNREPORTED_MS = 60_000

/** The rate limiter has no capacity within the bounded wait. Nothing was sent. */
export class RateLimitExceeded extends Error {
  override readonly name = 'RateLimitExceeded'
  /** Time until a retry can succeed. */
  readonly retryAfterMs: number

  constructor(retryAfterMs: number) {
    super(`the broker's rate limit leaves no capacity for ${Math.ceil(retryAfterMs)} ms`)
    this.retryAfterMs = retryAfterMs
  }
}

/** How long a call waits before it looks again, while no part of the quota is this process's. */
const NO_SHARE_MS = 100

interface Waiter {
  readonly kind: CallPriority
  go(number: number): void
  refuse(reason: unknown): void
}

const ALL = () => 1

/** One limit of one broker, for one login or for all logins together. */
export class RateLimiter implements Disposable {
  readonly #whole: RateLimits
  readonly #share: () => number
  readonly #clock: Clock
  /** Created when a call has to wait: there is a limiter per login, and its queue is nearly always empty. */
  #waiting: { readonly [kind in CallPriority]: Set<Waiter> } | null = null
  #tokens: number
  #countedAt: number
  #pausedUntil = 0
  /** The remaining quota that the broker reported; null when it has not reported any, or when the report has expired. */
  #remaining: RemainingQuota | null = null
  #taken = 0
  #alarm: Disposable | null = null
  #closed: Error | null = null

  /** @param share the part of the limit that this process may use, 0 to 1; the rest is for other processes */
  constructor(rates: RateLimits, clock: Clock, share: () => number = ALL) {
    this.#whole = rates
    this.#share = share
    this.#clock = clock
    this.#tokens = rates.burst * share()
    this.#countedAt = clock.monotonicMs()
  }

  /** Takes one call if it can be made now. */
  tryTake(kind: CallPriority): boolean {
    if (this.#waitingCount('order') > 0 || (kind === 'read' && this.#waitingCount('read') > 0)) return false
    return this.#grab(kind)
  }

  /**
   * Waits for one call and returns its number, counted from 1. @throws RateLimitExceeded when the wait would be too long; the signal's
   * reason when it aborts.
   */
  async take(kind: CallPriority, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted()
    if (this.#closed !== null) throw this.#closed
    if (this.tryTake(kind)) return this.#taken
    const waitMs = this.#waitMs(kind)
    if (waitMs > this.#whole.waitMsMax || this.#waitingCount('order') + this.#waitingCount('read') >= this.#whole.waitingMax)
      throw new RateLimitExceeded(waitMs)
    return await this.#queued(kind, signal)
  }

  /** Calls made so far, which is the number of the call that {@link tryTake} has just taken. */
  get taken(): number {
    return this.#taken
  }

  /**
   * Applies the remaining quota that the broker reports: our own rate is an estimate, and others may use the same limit. `number` is that
   * of the answered call; calls made after it are subtracted. When answers arrive out of order, the answer to the latest call counts, and
   * an older one only if it leaves less.
   */
  applyLimits({ remaining, resetInMs, limit }: BrokerLimits, number: number): void {
    if (!Number.isFinite(remaining) || !Number.isFinite(resetInMs)) return
    const now = this.#clock.monotonicMs()
    const calls = Math.max(0, remaining) - (this.#taken - number)
    const endsAt = now + Math.min(Math.max(resetInMs, 0), RESET_MS_MAX)
    const { limit: known, ...left } = this.#remaining ?? { calls, endsAt, since: number, limit }
    const isLate = now < left.endsAt && number < left.since
    this.#remaining = isLate
      ? { calls: Math.min(left.calls, calls), endsAt: Math.min(left.endsAt, endsAt), since: left.since, limit: known, isGuess: false }
      : { calls, endsAt, since: number, limit, isGuess: false }
    this.#refuseLate()
    if (this.#alarm === null) return
    this.#alarm[Symbol.dispose]()
    this.#drain()
  }

  /**
   * The broker demanded a pause: no call is made for `ms`, and no burst follows. The part reserved for orders is kept, because otherwise
   * reads would have to wait until it had refilled, long after the broker accepts them again. Of several pauses the latest end applies.
   */
  pause(ms: number): void {
    this.#count()
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.monotonicMs() + ms)
    this.#tokens = Math.min(this.#tokens, 1 + this.#reserved())
    this.#refuseLate()
  }

  [Symbol.dispose](): void {
    this.#closed ??= new Error('the login was closed')
    this.#alarm?.[Symbol.dispose]()
    for (const waiter of [...(this.#waiting?.order ?? []), ...(this.#waiting?.read ?? [])]) waiter.refuse(this.#closed)
  }

  /** Calls that would now have to wait longer than allowed are rejected at once. */
  #refuseLate(): void {
    for (const kind of ['order', 'read'] as const)
      if (this.#waitMs(kind) > this.#whole.waitMsMax)
        for (const waiter of this.#waiting?.[kind] ?? []) waiter.refuse(new RateLimitExceeded(this.#waitMs(kind)))
  }

  async #queued(kind: CallPriority, signal: AbortSignal): Promise<number> {
    const done = Promise.withResolvers<number>()
    const waiter: Waiter = { kind, go: done.resolve, refuse: done.reject }
    const giveUp = () => done.reject(signal.reason)
    this.#waiting ??= { order: new Set(), read: new Set() }
    const queue = this.#waiting[kind]
    queue.add(waiter)
    signal.addEventListener('abort', giveUp, { once: true })
    if (this.#alarm === null) this.#drain()
    try {
      return await done.promise
    } finally {
      queue.delete(waiter)
      signal.removeEventListener('abort', giveUp)
    }
  }

  /** Releases the waiting calls that can be made now, orders first, and sets an alarm for the next one. */
  #drain(): void {
    this.#alarm = null
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (!this.#grab(next.kind)) {
        this.#alarm = this.#clock.alarm(Math.max(1, this.#shortMs(next.kind)), () => this.#drain())
        return
      }
      this.#waiting?.[next.kind].delete(next)
      next.go(this.#taken)
    }
    this.#waiting = null
  }

  #next(): Waiter | undefined {
    const [order] = this.#waiting?.order ?? []
    const [read] = this.#waiting?.read ?? []
    return order ?? read
  }

  #waitingCount(kind: CallPriority): number {
    return this.#waiting?.[kind].size ?? 0
  }

  #grab(kind: CallPriority): boolean {
    this.#count()
    if (this.#clock.monotonicMs() < this.#pausedUntil || this.#tokens < this.#needed(kind) || this.#exhaustedMs(kind) > 0) return false
    this.#tokens -= 1
    this.#taken += 1
    if (this.#remaining !== null) this.#remaining.calls -= 1
    return true
  }

  /** Time until the broker's limit resets if it has no call left for this priority; otherwise 0. */
  #exhaustedMs(kind: CallPriority): number {
    if (this.#remaining === null) return 0
    const now = this.#clock.monotonicMs()
    const { endsAt, limit } = this.#remaining
    if (now >= endsAt) {
      this.#remaining = limit === undefined ? null : this.#nextWindow(this.#remaining, limit)
      if (this.#remaining === null) return 0
    }
    return this.#remaining.calls >= this.#needed(kind) ? 0 : this.#remaining.endsAt - now
  }

  /** The broker's limit has reset. Calls that are not answered yet may count towards the new window. */
  #nextWindow({ since, isGuess }: RemainingQuota, limit: number): RemainingQuota {
    const unanswered = isGuess ? 0 : Math.max(0, this.#taken - since)
    return { calls: limit - unanswered, endsAt: this.#clock.monotonicMs() + UNREPORTED_MS, since: this.#taken + 1, limit, isGuess: true }
  }

  #needed(kind: CallPriority): number {
    return kind === 'order' ? 1 : 1 + this.#reserved()
  }

  #count(): void {
    const now = this.#clock.monotonicMs()
    const from = Math.max(this.#countedAt, Math.min(this.#pausedUntil, now))
    const { perSecond, burst } = this.#whole
    const share = this.#share()
    // A part smaller than one call would never allow any.
    const most = share > 0 ? Math.max(1, burst * share) : 0
    this.#tokens = Math.min(most, this.#tokens + ((now - from) * perSecond * share) / 1_000)
    this.#countedAt = now
  }

  /** Time until the bucket holds enough for one call of this priority, ignoring the queue. */
  #shortMs(kind: CallPriority): number {
    const now = this.#clock.monotonicMs()
    const missing = Math.max(0, this.#needed(kind) - this.#tokens)
    const share = this.#share()
    const refillMs = share > 0 ? (missing / (this.#whole.perSecond * share)) * 1_000 : NO_SHARE_MS
    return Math.max(this.#pausedUntil - now, this.#exhaustedMs(kind), 0) + refillMs
  }

  #waitMs(kind: CallPriority): number {
    const before = this.#waitingCount('order') + (kind === 'read' ? this.#waitingCount('read') : 0)
    return this.#shortMs(kind) + (before / (this.#whole.perSecond * (this.#share() || 1))) * 1_000
  }

  /** Calls of the burst that reads leave to orders. */
  #reserved(): number {
    return this.#whole.reservedForOrders * this.#share()
  }
}
