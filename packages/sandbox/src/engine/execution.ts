/** Executes and ends orders. */
import type { CommandContext } from './command-context.ts'
import { enterTrade } from './ledger.ts'
import { hold } from './margin.ts'
import { type Account, holdingOf, type Leg, leaves, type Order, type OrderBook, refer } from './state.ts'
import type { FillView, OrderReason } from './types.ts'
import { feeOf, floorTo, formatMoney, formatScaled, type Money, min, type Price, type Quantity, roundToCents } from './units.ts'

const NO_LEGS: readonly Leg[] = []

/** Executes part of an order: updates order, ledger and holds together. The caller has checked the price and quantity. */
export function fill(context: CommandContext, order: Order, quantity: Quantity, price: Price, venue: FillView['venue']): void {
  const { account, book } = order
  const { now } = context.state
  const value = quantity * price * book.spec.multiplier
  order.traded += value
  // Charged on the order's whole traded value so far, so that many small fills cost as much as a single large one.
  const fee = roundToCents(feeOf(order.traded, order.buy ? book.spec.buyFee : book.spec.sellFee)) - order.fees
  const { id: execId } = context.nextId('exec')
  const view: FillView = {
    execId,
    orderId: order.id,
    at: now,
    quantity: formatScaled(quantity),
    price: formatScaled(price),
    fee: formatMoney(fee),
    venue
  }
  book.mark ??= price
  order.filled += quantity
  order.fees += fee
  order.fills.push(view)
  order.lastFillAt = now
  order.updatedAt = now
  if (order.notionalLeft !== null) order.notionalLeft -= value
  if (affordable(order, price) === 0n && order.quantity !== null) order.quantity = order.carried + order.filled
  const left = leaves(order)
  if (left === 0n) close(context, order, 'filled')
  else {
    order.state = 'partial'
    hold(order, holdingOf(account, book, now), left)
  }
  context.touch(account, book.symbol)
  context.order(order, 'fill', view)
  enterTrade(context, account, { book, buy: order.buy, quantity, price, value, fee, orderId: order.id, execId, street: venue !== 'HOUSE' })
}

/** The quantity that the order can take at a price: its open quantity, bounded by the money left of a notional purchase. */
export function affordable(order: Order, price: Price): Quantity {
  const left = leaves(order)
  if (order.notionalLeft === null || !order.buy) return left
  return min(left, unitsFor(order.notionalLeft, price, order.book))
}

/** The units that an amount pays for, in whole fractions. */
export function unitsFor(amount: Money, price: Price, book: OrderBook): Quantity {
  return amount <= 0n || price <= 0n ? 0n : floorTo(amount / (price * book.spec.multiplier), book.spec.fraction)
}

/** Ends an order without an execution and reports it. */
export function end(context: CommandContext, order: Order, state: 'canceled' | 'expired', code: OrderReason, message: string): void {
  order.reason = { code, message }
  close(context, order, state)
  context.order(order, state)
}

/** Removes an order from all queues and holds. Its final state is set before the caller emits the event. */
export function close(context: CommandContext, order: Order, state: 'filled' | 'canceled' | 'expired' | 'replaced'): void {
  order.state = state
  order.updatedAt = context.state.now
  leaveQueue(order)
  hold(order, holdingOf(order.account, order.book, context.state.now), 0n)
  order.account.live.delete(order)
  if (order.legs !== null) order.account.multiLegOrders.delete(order)
  context.state.closed.push(order)
  context.touch(order.account, null)
}

export function leaveQueue(order: Order): void {
  for (const { book } of order.legs ?? NO_LEGS) {
    const at = book.multiLegOrders.indexOf(order)
    if (at >= 0) book.multiLegOrders.splice(at, 1)
  }
  if (order.queue !== null && order.node !== null) order.queue.remove(order.node)
  order.queue = null
  order.node = null
}

/** Forgets the oldest closed orders beyond the bound. */
export function trim(context: CommandContext): void {
  const { state } = context
  while (state.closed.length - state.forgotten > state.settings.closedOrdersMax) {
    const order = state.closed[state.forgotten++]
    if (order === undefined) return
    state.orders.delete(order.id)
    refer(order, -1)
    context.forgotten(order)
    order.account.forgotten++
    compact(state.orders, order.account)
  }
  // Cuts the list only once per 1,000 or more forgotten orders.
  if (state.forgotten > 1_000 && state.forgotten * 8 > state.closed.length) {
    state.closed.splice(0, state.forgotten)
    state.forgotten = 0
  }
}

function compact(orders: ReadonlyMap<string, Order>, account: Account): void {
  if (account.forgotten < 1_000 || account.forgotten * 8 < account.orders.length) return
  account.orders = account.orders.filter(order => orders.has(order.id))
  account.forgotten = 0
}
