/** One login's calls, each resource with its own rate limit. */

import type { Clock } from '@trunkline/core/ports/clock'
import { type CallOptions, Calls } from '../calls.ts'
import { RateLimiter, type RateLimits } from '../rate-limiter.ts'

/** Where a resource is, for `Calls`. */
export type HostOf<Resource extends string> = (resource: Resource) => Pick<CallOptions, 'http' | 'base'>

export class ResourceCalls<Resource extends string> implements Disposable {
  readonly #options: Omit<CallOptions, 'limiters' | 'http' | 'base'>
  readonly #hostOf: HostOf<Resource>
  readonly #limiters: Quotas<Resource>
  /** Made when first used: most logins use few of them. */
  readonly #made = new Map<Resource, Calls>()

  constructor(options: Omit<CallOptions, 'limiters' | 'http' | 'base'>, hostOf: HostOf<Resource>, limiters: Quotas<Resource>) {
    this.#options = options
    this.#hostOf = hostOf
    this.#limiters = limiters
  }

  of(resource: Resource): Calls {
    const known = this.#made.get(resource)
    if (known !== undefined) return known
    const calls = new Calls({ ...this.#options, ...this.#hostOf(resource), limiters: this.#limiters.all(resource) })
    this.#made.set(resource, calls)
    return calls
  }

  /** The rate limit of a resource, for streams that count like requests. */
  limiterOf(resource: Resource): RateLimiter {
    return this.#limiters.of(resource)
  }

  [Symbol.dispose](): void {
    this.#limiters[Symbol.dispose]()
  }
}

/** The rate limits of one login. */
export class Quotas<Resource extends string> implements Disposable {
  readonly #rates: { readonly [resource in Resource]: RateLimits }
  readonly #clock: Clock
  readonly #made = new Map<Resource, RateLimiter>()
  readonly #shared: RateLimiter | null

  /** `shared`: the limit over all logins, which is its owner's to dispose. */
  constructor(rates: { readonly [resource in Resource]: RateLimits }, shared: RateLimiter | null, clock: Clock) {
    this.#rates = rates
    this.#shared = shared
    this.#clock = clock
  }

  /** Every limit of a resource: the login's own first. */
  all(resource: Resource): readonly RateLimiter[] {
    return this.#shared === null ? [this.of(resource)] : [this.of(resource), this.#shared]
  }

  of(resource: Resource): RateLimiter {
    const known = this.#made.get(resource)
    if (known !== undefined) return known
    const limiter = new RateLimiter(this.#rates[resource], this.#clock)
    this.#made.set(resource, limiter)
    return limiter
  }

  [Symbol.dispose](): void {
    for (const limiter of this.#made.values()) limiter[Symbol.dispose]()
  }
}
