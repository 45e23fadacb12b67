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
    return this.#orders.get(keyOf(account, brokerOrderId))
  }

  /** A report that is older than what is known changes nothing: the answer to a read may come after what happened since. */
  put(report: OrderReport): void {
    if (!this.#isUsed) return
    const key = keyOf(report.brokerAccountId, report.brokerOrderId)
    const known = this.#orders.get(key)
    if (known === undefined || !isOlder(report, known)) this.#orders.put(key, report)
  }

  /** Whether the order is known to have filled by more, to have ended, or to be acknowledged. */
  isOutdated(report: OrderReport): boolean {
    const known = this.get(report.brokerAccountId, report.brokerOrderId)
    return known !== undefined && isOlder(report, known)
  }
}

function keyOf(account: string, brokerOrderId: string): string {
  return `${account} ${brokerOrderId}`
}

function isOlder({ status, filledTotal }: OrderReport, known: OrderReport): boolean {
  const [filled, before] = [filledTotal?.quantity ?? ZERO, known.filledTotal?.quantity ?? ZERO]
  if (filled !== before && compare(filled, before) < 0) return true
  return status !== known.status && ((isOpen(status) && !isOpen(known.status)) || status === 'pending')
}
