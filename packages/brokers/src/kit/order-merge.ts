/** Reports made of what is known of an order and of what the broker has sent of it now. Pure. */

import { compare, type Decimal, isPositive, plus, ZERO } from '@trunkline/core/domain/decimal'
import { isOpen } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { OrderType } from '@trunkline/core/domain/vocabulary'
import type { NewOrder, OrderReport } from '@trunkline/core/ports/broker'

/** Whole numbers of so few digits are exact as binary floats. */
const EXACT_LENGTH = 15

/** An accepted order of which the broker has sent the id alone. `brokerStatus` is its word for an order that was accepted. */
export function acceptedReport(order: NewOrder, brokerOrderId: string, brokerStatus: string, at: Timestamp): OrderReport {
  return {
    ...order,
    brokerOrderId,
    status: 'pending',
    brokerStatus,
    brokerMessage: null,
    rejectCode: null,
    brokerOrderType: null,
    execDest: null,
    fills: null,
    filledTotal: { quantity: ZERO, averagePrice: null },
    entryTime: at,
    updatedAt: at,
    replacesBrokerOrderId: null,
    replacedByBrokerOrderId: null
  }
}

export type OrderEvent = Pick<OrderReport, 'type' | 'status' | 'brokerStatus' | 'brokerOrderType' | 'brokerClOrdId'> & {
  readonly filled: NonNullable<OrderReport['filledTotal']>
  /** A price that the event leaves out is null or zero. */
  readonly limitPrice: Decimal | null
  readonly stopPrice: Decimal | null
  readonly updatedAt: Timestamp | null
}

/**
 * The known order as the event leaves it; unchanged if the event is older than that. `read` if it ends the order with fewer fills than are
 * known: then only the order itself can show what happened. `quantity` is as {@link quantityAfter}.
 */
export function mergedEvent(known: OrderReport, quantity: Decimal | null, event: OrderEvent): OrderReport | 'read' {
  const { filled, type, status } = event
  const before = known.filledTotal?.quantity ?? ZERO
  if (!isOpen(known.status) && isOpen(status)) return known
  if (filled.quantity !== before && compare(filled.quantity, before) < 0) return isOpen(known.status) && !isOpen(status) ? 'read' : known
  return {
    ...known,
    quantity,
    type,
    limitPrice: isLimit(type) ? given(event.limitPrice, known.limitPrice) : null,
    stopPrice: isStop(type) ? given(event.stopPrice, known.stopPrice) : null,
    // An order may be reported open before it is reported pending, and an open order does not become pending again.
    status: status === 'pending' && known.status !== 'pending' ? known.status : status,
    brokerStatus: event.brokerStatus,
    brokerOrderType: event.brokerOrderType,
    brokerClOrdId: event.brokerClOrdId ?? known.brokerClOrdId,
    filledTotal: filled,
    updatedAt: event.updatedAt ?? known.updatedAt
  }
}

/** The quantity of an order whose events have none: one that was made larger elsewhere shows it by its leaves quantity. */
export function quantityAfter(known: Decimal | null, filled: Decimal, leaves: Decimal): Decimal | null {
  if (known === null || isWithin(known, filled, leaves)) return known
  const reported = plus(filled, leaves)
  return compare(reported, known) > 0 ? reported : known
}

export function isLimit(type: OrderType): boolean {
  return type === 'LMT' || type === 'STPLMT'
}

export function isStop(type: OrderType): boolean {
  return type === 'STP' || type === 'STPLMT'
}

/** False as well where only the decimal arithmetic is exact. */
function isWithin(known: Decimal, filled: Decimal, leaves: Decimal): boolean {
  if (Math.max(known.length, filled.length, leaves.length) > EXACT_LENGTH) return false
  const [total, first, second] = [Number(known), Number(filled), Number(leaves)]
  return Number.isInteger(total) && Number.isInteger(first) && Number.isInteger(second) && first + second <= total
}

function given(price: Decimal | null, before: Decimal | null): Decimal | null {
  return price !== null && isPositive(price) ? price : before
}
