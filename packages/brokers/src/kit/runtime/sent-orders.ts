/** Orders as a stream without numbers sent them: it shows which message is older than another, and which execution did not come. */

import { compare, type Decimal, minus, ZERO } from '@trunkline/core/domain/decimal'
import { isOpen } from '@trunkline/core/domain/order'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { BoundedMap } from '../bounded-cache.ts'

/** How an order was last sent. A new one for each message. */
export interface SentOrder extends Pick<OrderReport, 'status' | 'brokerStatus' | 'updatedAt'> {
  readonly filled: Decimal
}

/** What a message says of an order. */
export interface OrderUpdate {
  /** The whole order as it was when this was sent, with the message's execution as its only fill. */
  readonly report: OrderReport
  /** What the order has filled in all. */
  readonly filled: Decimal
  /** Quantity of the message's execution; null: it reports none. */
  readonly executed: Decimal | null
}

export class SentOrders {
  readonly #sent: BoundedMap<SentOrder>

  /** Of orders beyond `max`, the least recently sent first, nothing is known. */
  constructor(max: number) {
    this.#sent = new BoundedMap(max)
  }

  get(brokerOrderId: string): SentOrder | undefined {
    return this.#sent.get(brokerOrderId)
  }

  /** An order that was read. */
  put({ brokerOrderId, status, brokerStatus, updatedAt, filledTotal }: OrderReport): void {
    this.#sent.put(brokerOrderId, { status, brokerStatus, updatedAt, filled: filledTotal?.quantity ?? ZERO })
  }

  /**
   * The order to publish; null for a message that is older than what was sent and has no execution: one with an execution adds only that.
   * `isBehind`: the order had filled by more than was sent, so an execution did not come.
   */
  next({ report, filled, executed }: OrderUpdate): { readonly report: OrderReport | null; readonly isBehind: boolean } {
    const { brokerOrderId, status, brokerStatus, updatedAt } = report
    const before = this.#sent.get(brokerOrderId)
    if (before === undefined) {
      this.#sent.put(brokerOrderId, { status, brokerStatus, updatedAt, filled })
      return { report, isBehind: false }
    }
    const isOld = updatedAt < before.updatedAt || isEarlier(status, before.status)
    if (!isOld) this.#sent.put(brokerOrderId, { status, brokerStatus, updatedAt, filled: larger(filled, before.filled) })
    if (isOld && executed === null) return { report: null, isBehind: false }
    const isBehind = executed !== null && filled !== before.filled && compare(minus(filled, executed), before.filled) > 0
    return { report: isOld ? { ...report, status: before.status, brokerStatus: before.brokerStatus } : report, isBehind }
  }
}

/** Whether an order cannot have come from the one status to the other: it begins before it works, and nothing follows its end. */
function isEarlier(status: OrderReport['status'], known: OrderReport['status']): boolean {
  return (status === 'pending' && known !== 'pending') || (!isOpen(known) && status !== known)
}

function larger(a: Decimal, b: Decimal): Decimal {
  return a !== b && compare(b, a) > 0 ? b : a
}
