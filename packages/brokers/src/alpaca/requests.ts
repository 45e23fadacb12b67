/** Alpaca's requests, built and not sent. Paths are below the address of the host they are for. Pure. */

import { unreachable } from '@trunkline/core/domain/brand'
import { type Decimal, negated } from '@trunkline/core/domain/decimal'
import type { Leg, OrderTicket } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { NewOrder, OrderKey } from '@trunkline/core/ports/broker'
import type { HttpRequest } from '../kit/http.ts'
import { get, NO_BODY, requireBrokerValue, WITH_BODY } from '../kit/requests.ts'
import { ORDER_TYPES, POSITION_INTENTS, SIDES, TIME_IN_FORCE } from './enums.ts'

/** The most that a page of orders holds. */
export const ORDERS_PAGE = 500
export const ACTIVITIES_PAGE = 100

export const accountRequest: HttpRequest = get('/v2/account', {})
export const positionsRequest: HttpRequest = get('/v2/positions', {})

/** What a list of orders is requested by. */
export interface OrdersQuery {
  readonly status: 'open' | 'all'
  /** Whether orders that hang on others are inside of these; otherwise each is a row of its own. */
  readonly isNested: boolean
  /** Time of submission. */
  readonly after: Timestamp | null
}

/** A page of the orders submitted after `after`, oldest first; `from` is the last order of the page before. */
export function ordersRequest({ status, isNested, after }: OrdersQuery, from: string | null): HttpRequest {
  return get('/v2/orders', {
    status,
    limit: String(ORDERS_PAGE),
    direction: 'asc',
    nested: String(isNested),
    // Alpaca takes one of the two. Whatever comes after an order comes after the time as well.
    after: from === null ? after : null,
    after_order_id: from
  })
}

export function findRequest(key: OrderKey): HttpRequest {
  switch (key.by) {
    case 'brokerClOrdId':
      return get('/v2/orders:by_client_order_id', { client_order_id: key.brokerClOrdId, nested: 'true' })
    case 'brokerOrderId':
      return orderRequest(key.brokerOrderId)
    default:
      return unreachable(key)
  }
}

export function orderRequest(brokerOrderId: string): HttpRequest {
  return get(`/v2/orders/${encodeURIComponent(brokerOrderId)}`, { nested: 'true' })
}

/** A page of the activities that were recorded between the two, newest first; `from` is the last activity of the page before. */
export function activitiesRequest(after: Timestamp, until: Timestamp, from: string | null): HttpRequest {
  return get('/v2/account/activities', { after, until, direction: 'desc', page_size: String(ACTIVITIES_PAGE), page_token: from })
}

/** @throws Malformed for a value that Alpaca does not have. */
export function submitRequest(order: NewOrder): HttpRequest {
  return {
    method: 'POST',
    path: '/v2/orders',
    headers: WITH_BODY,
    body: JSON.stringify({
      ...subject(order),
      type: requireBrokerValue(ORDER_TYPES, order.type, 'order_type'),
      ...timeInForce(order),
      ...amounts(order),
      client_order_id: order.brokerClOrdId
    })
  }
}

/** `quantity` is that of the new order, which begins with nothing filled; null leaves it as it is. */
export function replaceRequest(
  brokerOrderId: string,
  { ticket, quantity, brokerClOrdId }: { readonly ticket: OrderTicket; readonly quantity: Decimal | null; readonly brokerClOrdId: string }
): HttpRequest {
  return {
    method: 'PATCH',
    path: `/v2/orders/${encodeURIComponent(brokerOrderId)}`,
    headers: WITH_BODY,
    body: JSON.stringify({ ...amounts({ ...ticket, quantity, notional: null }), client_order_id: brokerClOrdId })
  }
}

export function cancelRequest(brokerOrderId: string): HttpRequest {
  return { method: 'DELETE', path: `/v2/orders/${encodeURIComponent(brokerOrderId)}`, headers: NO_BODY }
}

/** A multi-leg order has legs and no side; an option's side states its effect on the position. */
function subject({ symbol, side, instrument, legs }: OrderTicket): object {
  if (legs !== null) return { order_class: 'mleg', legs: legsOf(legs, side).map(leg => ({ ...option(leg), ratio_qty: leg.ratio })) }
  if (instrument === 'OPT') return option({ symbol, side })
  return { symbol, side: requireBrokerValue(SIDES, side, 'side') }
}

function option({ symbol, side }: Pick<OrderTicket, 'symbol' | 'side'>): object {
  const intent = requireBrokerValue(POSITION_INTENTS, side, 'side')
  return { symbol, side: intent.startsWith('buy') ? 'buy' : 'sell', position_intent: intent }
}

/** A multi-leg order is read back as bought when its first leg is: the leg that shows this comes first. */
function legsOf(legs: readonly Leg[], side: OrderTicket['side']): readonly Leg[] {
  const at = legs.findIndex(leg => leg.side.startsWith(side))
  const first = legs[at]
  return first === undefined || at === 0 ? legs : [first, ...legs.toSpliced(at, 1)]
}

function timeInForce({ tif }: OrderTicket): object {
  const isExtended = tif === 'DAY+' || tif === 'GTC+'
  const time = requireBrokerValue(TIME_IN_FORCE, isExtended ? tif.slice(0, -1) : tif, 'order_tif')
  return isExtended ? { time_in_force: time, extended_hours: true } : { time_in_force: time }
}

/** What is null is left out. */
function amounts({ quantity, notional, limitPrice, stopPrice, legs, side }: OrderTicket): object {
  return {
    ...(quantity === null ? {} : { qty: quantity }),
    ...(notional === null ? {} : { notional }),
    ...(limitPrice === null ? {} : { limit_price: legs === null ? limitPrice : netPrice(limitPrice, side) }),
    ...(stopPrice === null ? {} : { stop_price: stopPrice })
  }
}

/** The price of a multi-leg order is what is paid when it is bought and what is received when it is sold; Alpaca's is always what is paid. Its own inverse. */
export function netPrice(price: Decimal, side: OrderTicket['side']): Decimal {
  return side === 'SELL' ? negated(price) : price
}
