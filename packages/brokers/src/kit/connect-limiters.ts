/** Limits the rate of new connections to a host, over all logins. */

import type { Clock } from '@trunkline/core/ports/clock'
import { RateLimiter, type RateLimits } from './rate-limiter.ts'

export class ConnectLimiters implements Disposable {
  /** For the first connection of each stream. Its rate lets two thousand accounts be followed within a minute. */
  readonly first: RateLimiter
  /** For reconnections; prevents reconnection storms at a failing host. */
  readonly again: RateLimiter

  /** `perSecond` applies to reconnections; first connections may be five times as frequent. */
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
