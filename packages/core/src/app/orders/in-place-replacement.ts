import { compare, type Decimal, isPositive, minus, sum } from '../../domain/decimal.ts'
import type { Fill, Leg, Order, OrderTicket } from '../../domain/order.ts'
import { filledQuantity } from '../../domain/order-machine.ts'
import { limitOf } from '../../domain/order-matching.ts'
import { restPrice } from '../../domain/rest-price.ts'
import type { OrderReport } from '../../ports/broker.ts'

// At some brokers an order is replaced in place: it goes on under its own id, with other terms and all its fills. Here it is two orders, each with its own part.

/** Whether a report shows the terms of `wanted` and not those of `present`; terms they share say nothing. */
export function showsTerms(report: OrderTicket, wanted: OrderTicket, present: OrderTicket): boolean {
  return isAt(report, wanted) && !isAt(report, present)
}

/**
 * What of a report is the order's own: without what was filled under the same id before the order took its predecessors' place, and without
 * their terms, which an older snapshot shows.
 */
export function ownPart(report: OrderReport, order: OrderTicket, predecessors: readonly Order[]): OrderReport {
  const earlier = predecessors.flatMap(({ fills }) => fills)
  const { fills, filledTotal } = report
  const { quantity, limitPrice, stopPrice, type } = order
  const isOlder = predecessors.some(before => showsTerms(report, before, order))
  const ownFills = fills === null ? null : notAmong(fills, earlier)
  const ownTotal = filledTotal === null ? null : remainderOf(filledTotal, earlier, order)
  // What the broker calls filled in part may all have been filled before.
  const isUntouched = report.status === 'partially_filled' && earlier.length > 0 && (ownFills ?? []).length === 0 && ownTotal === null
  return {
    ...report,
    status: isUntouched ? 'working' : report.status,
    ...(isOlder ? { quantity, limitPrice, stopPrice, type } : {}),
    fills: ownFills,
    filledTotal: ownTotal,
    legs: report.legs?.map(leg => ({ ...leg, fills: notAmong(leg.fills, earlierOfLeg(leg, predecessors)) })) ?? null
  }
}

/**
 * A report whose quantity is what was left when the broker stated it, with the total that was asked for instead. How much the predecessors had filled
 * at that time is not known: executions are reported before, between and after. A change of the total would be another order.
 */
export function withTotalQuantity(report: OrderReport, { quantity }: OrderTicket): OrderReport {
  return { ...report, quantity }
}

/** An order whose quantity is a total, with what its predecessors left of it instead. */
export function withRemainingQuantity(order: Order, predecessors: readonly Order[]): Order {
  const { quantity } = order
  return quantity === null ? order : { ...order, quantity: minus(quantity, filledBy(predecessors)) }
}

function filledBy(orders: readonly Order[]): Decimal {
  return sum(orders.map(filledQuantity))
}

function isAt(a: OrderTicket, b: OrderTicket): boolean {
  return areEqual(limitOf(a), limitOf(b)) && areEqual(a.stopPrice, b.stopPrice) && areEqual(a.quantity, b.quantity) && a.type === b.type
}

function areEqual(a: Decimal | null, b: Decimal | null): boolean {
  return a === null || b === null ? a === b : compare(a, b) === 0
}

function notAmong(fills: readonly Fill[], known: readonly Fill[]): readonly Fill[] {
  const ids = new Set(known.map(({ fillId }) => fillId))
  return fills.filter(({ fillId }) => !ids.has(fillId))
}

function earlierOfLeg({ symbol, side }: Leg, predecessors: readonly Pick<Order, 'legs'>[]): readonly Fill[] {
  return predecessors
    .flatMap(({ legs }) => legs ?? [])
    .filter(leg => leg.symbol === symbol && leg.side === side)
    .flatMap(({ fills }) => fills)
}

function remainderOf(
  total: NonNullable<OrderReport['filledTotal']>,
  earlier: readonly Fill[],
  order: OrderTicket
): OrderReport['filledTotal'] {
  const quantity = minus(total.quantity, sum(earlier.map(fill => fill.quantity)))
  if (!isPositive(quantity)) return null
  const { averagePrice } = total
  return {
    quantity,
    averagePrice: averagePrice === null ? null : restPrice(earlier, { quantity: total.quantity, averagePrice }, quantity, order)
  }
}
