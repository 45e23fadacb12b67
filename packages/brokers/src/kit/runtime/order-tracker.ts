/** The orders of a login as they were last read or reported: a stream's messages may leave out most of what makes an order. */

import { compare, ZERO } from '@trunkline/core/domain/decimal'
import { isOpen } from '@trunkline/core/domain/order'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { BoundedMap } from '../bounded-cache.ts'

/** Orders beyond it, the least recently reported first, are read again when a stream mentions them. */
const ORDERS_MAX = 10_000

export class OrderTracker {
  readonly #isUsed: boolean
  readonly #orders = new BoundedMap<OrderReport>(ORDERS_MAX)

  /** `isUsed` false: nothing is kept. */
  constructor(isUsed = true) {
    this.#isUsed = isUsed
  }

  get(account: string, brokerOrderId: string): OrderReport | undefined {
    return this.#orders.get(`${account} ${brokerOrderId}`)
  }

  /** A report that is older than what is known changes nothing: the answer to a read may come after what happened since. */
  put(report: OrderReport): void {
    if (this.#isUsed && !this.isOutdated(report)) this.#orders.put(`${report.brokerAccountId} ${report.brokerOrderId}`, report)
  }

  /** Whether the order is known to have filled by more, to have ended, or to be acknowledged. */
  isOutdated({ brokerAccountId, brokerOrderId, status, filledTotal }: OrderReport): boolean {
    const known = this.get(brokerAccountId, brokerOrderId)
    if (known === undefined) return false
    const hasLess = compare(filledTotal?.quantity ?? ZERO, known.filledTotal?.quantity ?? ZERO) < 0
    return hasLess || (isOpen(status) && !isOpen(known.status)) || (status === 'pending' && known.status !== 'pending')
  }
}
