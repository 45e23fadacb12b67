/** How the sandbox's orders look on Alpaca's wire. */

import { type Decimal, dividedBy, minus, parseDecimal, plus, sum, times, ZERO } from '@trunkline/core/domain/decimal'
import {
  directionOf,
  type FillView,
  isLive,
  type LegView,
  type Micros,
  type OrderView,
  type Overlay,
  type Phase
} from '../frame/brokerage.ts'
import { uuidOf } from '../frame/order-ids.ts'
import { CLASS_OF, INTENT_OF, STATUS_OF, TIME_IN_FORCE_OF, TYPE_OF } from './enums.ts'
import { assetIdOf } from './ids.ts'
import { Ends, nanosOf } from './times.ts'

export interface Showing {
  readonly overlay: Overlay | undefined
  /** Of the order's market now. */
  readonly phase: Phase
  /** The id it has, where that is not made of the sandbox's. */
  readonly idOf: (internalId: string) => string
}

const PLACES = 9
const ends = new Ends()

/** What an order is answered with as it is now. */
export function orderWire(order: OrderView, showing: Showing): OrderWire {
  const status = statusOf(order, showing)
  return shown(order, { status, end: order.updatedAt, legs: legsOf(order, status), idOf: showing.idOf })
}

/** As it was when it came: what the answer to a submit shows, whatever has happened since. */
export function firstWire(order: OrderView, showing: Showing): OrderWire {
  const fresh = { ...order, state: 'open', filledQuantity: '0', averagePrice: null, lastFillAt: null, updatedAt: order.acceptedAt } as const
  const legs = order.legs?.map(leg => ({ ...leg, fills: [] })) ?? null
  const status = waits(order, showing.phase) ? 'accepted' : 'pending_new'
  const first = { ...fresh, legs }
  return shown(first, { status, end: order.acceptedAt, legs: legsOf(first, status), idOf: showing.idOf })
}

export type OrderWire = ReturnType<typeof shown>

export function statusOf(order: OrderView, { overlay, phase }: Pick<Showing, 'overlay' | 'phase'>): string {
  if (overlay !== undefined && overlay.refusedLater !== null && order.state === 'canceled') return 'rejected'
  if (isLive(order) && overlay?.busy === 'cancelling') return 'pending_cancel'
  if (isLive(order) && overlay?.busy === 'amending') return 'pending_replace'
  return isLive(order) && order.state !== 'partial' && waits(order, phase) ? 'accepted' : STATUS_OF[order.state]
}

/** It is taken and goes to the market only when that opens. */
function waits({ timeInForce, kind }: OrderView, phase: Phase): boolean {
  if (kind === 'CRYPTO' || phase === 'open') return timeInForce === 'OPEN' || timeInForce === 'CLOSE'
  return phase === 'closed' || !timeInForce.endsWith('+')
}

/** The id of a leg: its order's, with the leg's place in it. */
export function legIdOf(orderId: string, at: number): string {
  return `${orderId.slice(0, 19)}b${at}${orderId.slice(21)}`
}

interface More {
  readonly status: string
  /** When it ended, if it has. */
  readonly end: Micros
  readonly legs: readonly object[] | null
  readonly idOf: (internalId: string) => string
}

function shown(order: OrderView, { status, end, legs, idOf }: More) {
  const ended = (wanted: string) => (status === wanted ? nanosOf(end) : null)
  const isMultiLeg = order.legs !== null
  const type = TYPE_OF[order.orderType]
  return {
    id: idOf(order.orderId),
    client_order_id: order.clientOrderId,
    created_at: nanosOf(order.acceptedAt),
    updated_at: nanosOf(order.updatedAt),
    submitted_at: nanosOf(order.acceptedAt),
    filled_at: status === 'filled' && order.lastFillAt !== null ? nanosOf(order.lastFillAt) : null,
    expired_at: ended('expired'),
    expires_at: expiresAt(order),
    canceled_at: ended('canceled'),
    failed_at: ended('rejected'),
    replaced_at: ended('replaced'),
    replaced_by: order.replacedBy === null ? null : idOf(order.replacedBy),
    replaces: order.replaces === null ? null : idOf(order.replaces),
    asset_id: order.symbol === null ? '' : assetIdOf(order.symbol),
    symbol: order.symbol ?? '',
    asset_class: isMultiLeg ? '' : CLASS_OF[order.kind],
    notional: order.notional,
    qty: order.notional === null ? ownQuantity(order) : null,
    filled_qty: order.filledQuantity,
    filled_avg_price: isMultiLeg && order.averagePrice !== null ? debitOf(order.averagePrice, order) : order.averagePrice,
    order_class: isMultiLeg ? 'mleg' : order.kind === 'OPT' ? 'simple' : '',
    order_type: type,
    type,
    side: isMultiLeg ? '' : directionOf(order.side),
    position_intent: INTENT_OF[order.side],
    time_in_force: TIME_IN_FORCE_OF[order.timeInForce],
    limit_price: isMultiLeg && order.limitPrice !== null ? debitOf(order.limitPrice, order) : order.limitPrice,
    stop_price: order.stopPrice,
    status,
    extended_hours: order.timeInForce.endsWith('+'),
    legs,
    trail_percent: null,
    trail_price: null,
    hwm: null,
    subtag: null,
    source: null
  }
}

/** What was filled before a replacement belongs to the order replaced. */
function ownQuantity({ quantity, carriedQuantity }: OrderView): string | null {
  if (quantity === null || carriedQuantity === '0') return quantity
  return minus(parseDecimal(quantity, 'quantity'), parseDecimal(carriedQuantity, 'carried quantity'))
}

/** Net prices of multi-leg orders: what is paid is positive, what is received negative. */
export function debitOf(price: string, { side }: Pick<OrderView, 'side'>): string {
  if (side === 'BUY' || price === '0') return price
  return price.startsWith('-') ? price.slice(1) : `-${price}`
}

function expiresAt({ timeInForce, acceptedAt, kind }: OrderView): string | null {
  if (timeInForce === 'IOC' || timeInForce === 'FOK' || kind === 'CRYPTO') return null
  return nanosOf(TIME_IN_FORCE_OF[timeInForce] === 'gtc' ? ends.gtc(acceptedAt) : ends.day(acceptedAt))
}

function legsOf(order: OrderView, status: string): readonly object[] | null {
  if (order.legs === null) return null
  const id = uuidOf(order.orderId)
  return order.legs.map((leg, at) => legShown(order, leg, { status, id: legIdOf(id, at) }))
}

function legShown(order: OrderView, leg: LegView, { status, id }: { readonly status: string; readonly id: string }): object {
  const { filled, average } = totalsOf(leg.fills)
  return {
    id,
    client_order_id: `${order.clientOrderId}-${leg.symbol}`,
    created_at: nanosOf(order.acceptedAt),
    updated_at: nanosOf(order.updatedAt),
    submitted_at: nanosOf(order.acceptedAt),
    filled_at: status === 'filled' && order.lastFillAt !== null ? nanosOf(order.lastFillAt) : null,
    asset_id: assetIdOf(leg.symbol),
    symbol: leg.symbol,
    asset_class: 'us_option',
    notional: null,
    qty: times(parseDecimal(ownQuantity(order) ?? '0', 'quantity'), parseDecimal(leg.ratio, 'ratio')),
    filled_qty: filled,
    filled_avg_price: average,
    order_class: 'mleg',
    order_type: '',
    type: '',
    side: directionOf(leg.side),
    position_intent: INTENT_OF[leg.side],
    time_in_force: TIME_IN_FORCE_OF[order.timeInForce],
    limit_price: null,
    stop_price: null,
    status,
    extended_hours: false,
    legs: null,
    ratio_qty: leg.ratio
  }
}

function totalsOf(fills: readonly FillView[]): { readonly filled: Decimal; readonly average: Decimal | null } {
  let [filled, value] = [ZERO, ZERO]
  for (const fill of fills) {
    const quantity = parseDecimal(fill.quantity, 'quantity')
    filled = plus(filled, quantity)
    value = sum([value, times(quantity, parseDecimal(fill.price, 'price'))])
  }
  return { filled, average: filled === ZERO ? null : dividedBy(value, filled, PLACES) }
}
