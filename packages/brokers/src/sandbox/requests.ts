/** The sandbox's requests, built and not sent. Pure. */

import { unreachable } from '@trunkline/core/domain/brand'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { Day, Timestamp } from '@trunkline/core/domain/timestamp'
import type { Side } from '@trunkline/core/domain/vocabulary'
import type { NewOrder, OrderKey, ReplaceOrder } from '@trunkline/core/ports/broker'
import type { PreviewOrder } from '@trunkline/core/ports/preview'
import type { HttpRequest } from '../kit/http.ts'
import * as kit from '../kit/requests.ts'
import { NO_BODY, type Query, requireBrokerValue, WITH_BODY } from '../kit/requests.ts'
import { ORDER_TYPES, SIDES, sandboxSide, TIME_IN_FORCE } from './enums.ts'

const API = '/api/v1'
/** The most that a page holds; only requests for lists that can be long have it. */
const PAGE = '500'

export function accountsRequest(cursor: string | null): HttpRequest {
  return get('/accounts', { cursor })
}

export function balancesRequest(account: string, cursor: string | null): HttpRequest {
  return get('/balances', { account, cursor })
}

export function positionsRequest(account: string, cursor: string | null): HttpRequest {
  return get('/positions', { account, cursor })
}

/** `since` is sandbox time of the order's arrival; null requests all. */
export function ordersRequest(account: string, state: 'open' | 'all', since: Timestamp | null, cursor: string | null): HttpRequest {
  return get('/orders', { account, state, since, limit: PAGE, cursor })
}

export function transactionsRequest(account: string, from: Day, to: Day, cursor: string | null): HttpRequest {
  return get('/transactions', { account, from, to, limit: PAGE, cursor })
}

export function findRequest(key: OrderKey): HttpRequest {
  switch (key.by) {
    case 'brokerClOrdId':
      return get('/orders/find', { client_order_id: key.brokerClOrdId, account: key.brokerAccountId })
    case 'brokerOrderId':
      return get(`/orders/${encodeURIComponent(key.brokerOrderId)}`, {})
    default:
      return unreachable(key)
  }
}

/** @throws Malformed for a value that the sandbox does not have. */
export function submitRequest(order: NewOrder): HttpRequest {
  return {
    method: 'POST',
    path: `${API}/orders`,
    headers: WITH_BODY,
    body: JSON.stringify({ account: order.brokerAccountId, client_order_id: order.brokerClOrdId, ...terms(order) })
  }
}

/** At a separate address, where nothing is placed. @throws Malformed for a value that the sandbox does not have. */
export function previewRequest(order: PreviewOrder): HttpRequest {
  return {
    method: 'POST',
    path: `${API}/orders/preview`,
    headers: WITH_BODY,
    body: JSON.stringify({ account: order.brokerAccountId, ...terms(order) })
  }
}

function terms(ticket: OrderTicket): object {
  return {
    ...subject(ticket),
    kind: requireBrokerValue(ORDER_TYPES, ticket.type, 'order_type'),
    lifetime: requireBrokerValue(TIME_IN_FORCE, ticket.tif, 'order_tif'),
    ...amounts(ticket)
  }
}

export function replaceRequest(request: ReplaceOrder): HttpRequest {
  return {
    method: 'POST',
    path: `${API}/orders/${encodeURIComponent(request.brokerOrderId)}/amend`,
    headers: WITH_BODY,
    body: JSON.stringify({ client_order_id: request.brokerClOrdId, ...amounts(request.ticket) })
  }
}

export function cancelRequest(brokerOrderId: string): HttpRequest {
  return { method: 'DELETE', path: `${API}/orders/${encodeURIComponent(brokerOrderId)}`, headers: NO_BODY }
}

/** A multi-leg order has legs and a direction; anything else a symbol and a side. */
function subject({ symbol, side, instrument, legs }: OrderTicket): object {
  if (legs === null) return { symbol, ...sideFields(side, instrument === 'OPT', 'side') }
  return {
    direction: requireBrokerValue(SIDES, side, 'side'),
    legs: legs.map(leg => ({ symbol: leg.symbol, ...sideFields(leg.side, true, 'action'), ratio: leg.ratio }))
  }
}

/** Options open or close a position; nothing else states which. */
function sideFields(side: Side, isOption: boolean, what: string): object {
  const fields = sandboxSide(side)
  if (fields === undefined || (fields.effect !== null) !== isOption)
    throw new Malformed(what, isOption ? 'a side that opens or closes' : 'BUY or SELL', side)
  return fields.effect === null ? { direction: fields.direction } : fields
}

/** What is null is left out: the sandbox refuses a field that the kind of order does not take. */
function amounts(ticket: OrderTicket): object {
  return {
    ...(ticket.quantity === null ? {} : { quantity: ticket.quantity }),
    ...(ticket.notional === null ? {} : { notional: ticket.notional }),
    ...(ticket.limitPrice === null ? {} : { limit: ticket.limitPrice }),
    ...(ticket.stopPrice === null ? {} : { stop: ticket.stopPrice })
  }
}

/** A read below the API; what is null is left out. */
export function get(path: string, query: Query): HttpRequest {
  return kit.get(`${API}${path}`, query)
}
