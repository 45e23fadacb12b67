/** What order previews have in common: the sign of the cost, and the check that no order was placed. Pure. */

import { absolute, type Decimal, negated } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { PreviewPlaced } from '@trunkline/core/ports/broker'
import type { OrderEstimate, OrderPreview } from '@trunkline/core/ports/preview'
import type { Answered } from './calls.ts'
import { field, type Wire } from './parse.ts'

export function previewOf(answered: Answered<OrderEstimate>): OrderPreview {
  return answered.kind === 'accepted' ? { kind: 'estimated', estimate: answered.value } : answered
}

/** A field that only an order has must be absent, or empty. @throws PreviewPlaced */
export function demandNoOrder(wire: Wire, key: string): void {
  const value = field(wire, key)
  if (value === undefined || value === null || value === '') return
  throw new PreviewPlaced(typeof value === 'string' ? value.slice(0, 64) : null)
}

/**
 * The signed cost of an order, for a broker that does not state whether it is paid or received. The sign follows from the order, except for
 * a multi-leg market order, which can be either: then null.
 */
export function signedCost({ side, legs, limitPrice }: OrderTicket, amount: Decimal | null): Decimal | null {
  if (amount === null || (legs !== null && limitPrice === null)) return null
  const isPaid = side.startsWith('BUY') !== (legs !== null && limitPrice?.startsWith('-') === true)
  return isPaid ? absolute(amount) : negated(absolute(amount))
}
