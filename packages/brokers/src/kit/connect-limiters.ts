/** How fast a host is connected to, over all logins. */

import type { Clock } from '@trunkline/core/ports/clock'
import { RateLimiter, type RateLimits } from './rate-limiter.ts'

export class ConnectLimiters implements Disposable {
  /** First connections are opened because a client subscribed, not after a failure: two thousand accounts are followed within a minute. */
  readonly first: RateLimiter
  /** Against reconnection storms to a failing host. */
  readonly again: RateLimiter

  /** `perSecond` is for connections after the first of each stream. */
  constructor(clock: Clock, perSecond = 10) {
    const rates = (count: number): RateLimits => ({
      ...{ perSecond: count, burst: count, reservedForOrders: 0 },
      ...{ waitingMax: 20_000, waitMsMax: 3_600_000 }
    })
    this.first = new RateLimiter(rates(5 * perSecond), clock)
    this.again = new RateLimiter(rates(perSecond), clock)
  }

  [Symbol.dispose](): void {
    this.first[Symbol.dispose]()
    this.again[Symbol.dispose]()
  }
}
