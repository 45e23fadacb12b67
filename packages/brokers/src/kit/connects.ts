/** How fast a host is connected to, over all logins. */

import type { Clock } from '@trunkline/core/ports/clock'
import { type BudgetRates, RateBudget } from './budget.ts'

export class Connects implements Disposable {
  /** What we open because somebody listens says nothing of trouble: two thousand accounts are followed within a minute. */
  readonly first: RateBudget
  /** Against storms of connections to a host in trouble. */
  readonly again: RateBudget

  /** `perSecond` is of connections after the first of each line. */
  constructor(clock: Clock, perSecond = 10) {
    const rates = (count: number): BudgetRates => ({
      ...{ perSecond: count, burst: count, keptForOrders: 0 },
      ...{ waitingMax: 20_000, waitMsMax: 3_600_000 }
    })
    this.first = new RateBudget(rates(5 * perSecond), clock)
    this.again = new RateBudget(rates(perSecond), clock)
  }

  [Symbol.dispose](): void {
    this.first[Symbol.dispose]()
    this.again[Symbol.dispose]()
  }
}
