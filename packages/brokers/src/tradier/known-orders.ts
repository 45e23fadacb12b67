/** What is known of the orders that the stream may name: its events leave out most of what makes an order. */

import { compare, type Decimal, isPositive, plus, ZERO } from '@trunkline/core/domain/decimal'
import { isOpen } from '@trunkline/core/domain/order'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { BoundedMap } from '../kit/bounded-cache.ts'
import { member, text, timestampOrNull, type Wire } from '../kit/parse.ts'
import { ORDER_TYPES, STATUSES } from './enums.ts'
import { figuresOf, statusOf } from './orders.ts'
import { amountOrNull, textOf } from './wire.ts'

/** Orders beyond it, the least recently named first, are read again when the stream names them. */
const ORDERS_MAX = 5_000

export class KnownOrders {
  readonly #orders = new BoundedMap<OrderReport>(ORDERS_MAX)

  get(account: string, order: string): OrderReport | undefined {
    return this.#orders.get(`${account} ${order}`)
  }

  put(report: OrderReport): void {
    this.#orders.put(`${report.brokerAccountId} ${report.brokerOrderId}`, report)
  }
}

const EXACT_LENGTH = 15

/**
 * An order as an event leaves it: as it is known where the event is older than that, which may have been read and never published.
 * `read`: only the order itself can show what happened.
 * @throws Malformed
 */
export function merged(known: OrderReport, event: Wire): OrderReport | 'read' {
  // Legs fill one by one and events do not report them, nor why an order was rejected.
  if (known.legs !== null || member(event, 'status', STATUSES) === 'rejected') return 'read'
  const { filled } = figuresOf(event)
  const quantity = larger(known.quantity, filled.quantity, amountOrNull(event, 'remaining_quantity') ?? ZERO)
  const reported = statusOf(event, { quantity, filled })
  const before = known.filledTotal?.quantity ?? ZERO
  if ((filled.quantity !== before && compare(filled.quantity, before) < 0) || (!isOpen(known.status) && isOpen(reported))) return known
  const type = member(event, 'type', ORDER_TYPES)
  return {
    ...known,
    quantity,
    type,
    limitPrice: type === 'LMT' || type === 'STPLMT' ? priceOf(event, 'price', known.limitPrice) : null,
    stopPrice: type === 'STP' || type === 'STPLMT' ? priceOf(event, 'stop_price', known.stopPrice) : null,
    // Tradier may report open before pending, and an order that is open does not become pending again.
    status: reported === 'pending' && known.status !== 'pending' ? known.status : reported,
    brokerStatus: text(event, 'status', 64),
    brokerOrderType: text(event, 'type', 64),
    brokerClOrdId: textOf(event, 'tag') ?? known.brokerClOrdId,
    filledTotal: filled,
    updatedAt: timestampOrNull(event, 'transaction_date') ?? known.updatedAt
  }
}

/** An event has no quantity: an order that was made larger elsewhere shows it by what remains. */
function larger(known: Decimal | null, filled: Decimal, remaining: Decimal): Decimal | null {
  if (known === null || isWithin(known, filled, remaining)) return known
  const reported = plus(filled, remaining)
  return compare(reported, known) > 0 ? reported : known
}

/** False as well where the core's arithmetic would be needed: whole numbers of so few digits are exact without it. */
function isWithin(known: Decimal, filled: Decimal, remaining: Decimal): boolean {
  if (Math.max(known.length, filled.length, remaining.length) > EXACT_LENGTH) return false
  const [total, first, second] = [Number(known), Number(filled), Number(remaining)]
  return Number.isInteger(total) && Number.isInteger(first) && Number.isInteger(second) && first + second <= total
}

/** A price that the event leaves out is written as nothing. */
function priceOf(event: Wire, key: string, before: Decimal | null): Decimal | null {
  const reported = amountOrNull(event, key)
  return reported !== null && isPositive(reported) ? reported : before
}
