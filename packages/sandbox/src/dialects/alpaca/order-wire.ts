/** How the sandbox's orders look on Alpaca's wire. */

import { type Decimal, dividedBy, minus, parseDecimal, sum, times, ZERO } from '@trunkline/core/domain/decimal'
import { directionOf, type FillView, isLive, type LegView, type OrderView, type Overlay, type Phase } from '../frame/brokerage.ts'
import { uuidOf } from '../frame/order-ids.ts'
import { ASSET_CLASSES, INTENTS, nameOf, nanosOf, TYPES, timeInForceOf } from './values.ts'

export interface Showing {
  readonly overlay: Overlay | undefined
  /** Of the order's market now. */
  readonly phase: Phase
  /** The id it has, where that is not made of the sandbox's. */
  readonly idOf: (internalId: string) => string
}

export type OrderWire = ReturnType<typeof shown>

/** What an order is answered with as it is now. */
export function orderWire(order: OrderView, showing: Showing) {
  return shown(order, statusOf(order, showing), showing.idOf)
}

/** As it was when it came: what the answer to a submit shows, whatever has happened since. */
export function firstWire(order: OrderView, { phase, idOf }: Showing): OrderWire {
  const fresh = { ...order, state: 'open', filledQuantity: '0', averagePrice: null, lastFillAt: null, updatedAt: order.acceptedAt } as const
  const legs = order.legs?.map(leg => ({ ...leg, fills: [] })) ?? null
  return shown({ ...fresh, legs }, waits(order, phase) ? 'accepted' : 'pending_new', idOf)
}

export function statusOf(order: OrderView, { overlay, phase }: Pick<Showing, 'overlay' | 'phase'>): string {
  const { state } = order
  if (overlay !== undefined && overlay.refusedLater !== null && state === 'canceled') return 'rejected'
  if (!isLive(order)) return state
  if (overlay !== undefined && overlay.busy !== null) return overlay.busy === 'cancelling' ? 'pending_cancel' : 'pending_replace'
  if (state === 'partial') return 'partially_filled'
  return waits(order, phase) ? 'accepted' : 'new'
}

/** It is taken and goes to the market only when that opens. */
function waits({ timeInForce, kind }: OrderView, phase: Phase): boolean {
  if (kind === 'CRYPTO' || phase === 'open') return timeInForce === 'OPEN' || timeInForce === 'CLOSE'
  return phase === 'closed' || !timeInForce.endsWith('+')
}

function shown(order: OrderView, status: string, idOf: Showing['idOf']) {
  const isMultiLeg = order.legs !== null
  const net = (price: string | null) => (isMultiLeg && price !== null ? debitOf(price, order) : price)
  const type = nameOf(TYPES, order.orderType)
  return {
    id: idOf(order.orderId),
    client_order_id: order.clientOrderId,
    ...instantsOf(order, status),
    replaced_by: order.replacedBy === null ? null : idOf(order.replacedBy),
    replaces: order.replaces === null ? null : idOf(order.replaces),
    symbol: order.symbol ?? '',
    asset_class: isMultiLeg ? '' : ASSET_CLASSES[order.kind],
    notional: order.notional,
    qty: order.notional === null ? ownQuantity(order) : null,
    filled_qty: order.filledQuantity,
    filled_avg_price: net(order.averagePrice),
    order_class: isMultiLeg ? 'mleg' : '',
    order_type: type,
    type,
    side: isMultiLeg ? '' : directionOf(order.side),
    position_intent: nameOf(INTENTS, order.side),
    time_in_force: timeInForceOf(order.timeInForce),
    limit_price: net(order.limitPrice),
    stop_price: order.stopPrice,
    status,
    extended_hours: order.timeInForce.endsWith('+'),
    legs: order.legs?.map((leg, at) => legShown(order, leg, { status, id: legIdOf(uuidOf(order.orderId), at) })) ?? null
  }
}

function instantsOf(order: OrderView, status: string) {
  return {
    created_at: nanosOf(order.acceptedAt),
    updated_at: nanosOf(order.updatedAt),
    submitted_at: nanosOf(order.acceptedAt),
    filled_at: status === 'filled' && order.lastFillAt !== null ? nanosOf(order.lastFillAt) : null
  }
}

/** The id of a leg: its order's, with the leg's place in it. */
function legIdOf(orderId: string, at: number): string {
  return `${orderId.slice(0, 19)}b${at}${orderId.slice(21)}`
}

/** What was filled before a replacement belongs to the order replaced. */
export function ownQuantity({ quantity, carriedQuantity }: Pick<OrderView, 'quantity' | 'carriedQuantity'>): Decimal | null {
  return quantity === null ? null : minus(parseDecimal(quantity, 'quantity'), parseDecimal(carriedQuantity, 'carried quantity'))
}

/** Net prices of multi-leg orders: what is paid is positive, what is received negative. */
export function debitOf(price: string, { side }: Pick<OrderView, 'side'>): string {
  if (side === 'BUY' || price === '0') return price
  return price.startsWith('-') ? price.slice(1) : `-${price}`
}

function legShown(order: OrderView, leg: LegView, { status, id }: { readonly status: string; readonly id: string }): object {
  return {
    id,
    ...instantsOf(order, status),
    symbol: leg.symbol,
    qty: times(ownQuantity(order) ?? ZERO, parseDecimal(leg.ratio, 'ratio')),
    ...totalsOf(leg.fills),
    order_class: 'mleg',
    side: directionOf(leg.side),
    position_intent: nameOf(INTENTS, leg.side),
    status,
    ratio_qty: leg.ratio
  }
}

function totalsOf(fills: readonly FillView[]): { readonly filled_qty: Decimal; readonly filled_avg_price: Decimal | null } {
  const numbers = fills.map(({ quantity, price }) => [parseDecimal(quantity, 'quantity'), parseDecimal(price, 'price')] as const)
  const filled = sum(numbers.map(([quantity]) => quantity))
  const value = sum(numbers.map(([quantity, price]) => times(quantity, price)))
  return { filled_qty: filled, filled_avg_price: filled === ZERO ? null : dividedBy(value, filled, 9) }
}
