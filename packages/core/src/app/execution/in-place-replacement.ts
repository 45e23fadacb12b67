import { areEqual, type Decimal, isPositive, minus, sum } from '../../domain/decimal.ts'
import type { Fill, Leg, Order, OrderTicket } from '../../domain/order.ts'
import { filledQuantity } from '../../domain/order-machine.ts'
import { limitOf } from '../../domain/order-matching.ts'
import { restPrice } from '../../domain/rest-price.ts'
import type { OrderReport } from '../../ports/broker.ts'

// Some brokers replace an order in place: it keeps its broker order id and all its fills and gets new terms. The core stores two orders,
// the replaced one and its successor. The functions here split such a broker order between them.

/** Whether a report shows the terms of `wanted` and not those of `present`. If both have the same terms, the answer is no. */
export function showsTerms(report: OrderTicket, wanted: OrderTicket, present: OrderTicket): boolean {
  return isAt(report, wanted) && !isAt(report, present)
}

/**
 * Reduces a report of a broker order that was replaced in place to what belongs to `order`. Fills of its predecessors under the same broker
 * order id are removed, from the executions, the legs and the cum qty. If an older snapshot still shows a predecessor's terms, the order's
 * own terms are used instead.
 */
export function ownPart(report: OrderReport, order: OrderTicket, predecessors: readonly Order[]): OrderReport {
  const earlier = predecessors.flatMap(({ fills }) => fills)
  const { fills, filledTotal } = report
  const { quantity, limitPrice, stopPrice, type } = order
  const isOlder = predecessors.some(before => showsTerms(report, before, order))
  const ownFills = fills === null ? null : notAmong(fills, earlier)
  const ownTotal = filledTotal === null ? null : remainderOf(filledTotal, earlier, order)
  // The broker's `partially_filled` covers all predecessors: their fills may be all there are.
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
 * For brokers that report the leaves qty as the quantity of a replaced order: the report with the order's requested total instead. The
 * total cannot be computed from the leaves qty, because executions are reported before, during and after the replacement. A changed total
 * would be another order.
 */
export function withTotalQuantity(report: OrderReport, { quantity }: OrderTicket): OrderReport {
  return { ...report, quantity }
}

/** The order with its quantity, a total, reduced by what its predecessors filled. */
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
