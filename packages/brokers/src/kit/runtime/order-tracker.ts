/** The orders of a login as they were last read or reported: a stream's messages may leave out most of what makes an order. */

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

  put(report: OrderReport): void {
    if (this.#isUsed) this.#orders.put(`${report.brokerAccountId} ${report.brokerOrderId}`, report)
  }
}
