/** The broker's requests, built and not sent. Pure. */

import { areEqual, canonical, commonDivisor, type Decimal, negated, times } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { Day } from '@trunkline/core/domain/timestamp'
import type { NewOrder, ReplaceOrder } from '@trunkline/core/ports/broker'
import type { PreviewOrder } from '@trunkline/core/ports/preview'
import type { HttpRequest } from '../kit/http.ts'
import { brokerValueOf, get, NO_BODY, WITH_BODY } from '../kit/requests.ts'
import { DURATIONS, OPTION_ACTIONS, ORDER_TYPES } from './enums.ts'
import { brokerSymbol } from './symbols.ts'

/** The most that a page holds. */
const PAGE = '600'

export function accountsRequest(): HttpRequest {
  return get('/brokerage/accounts')
}

export function balancesRequest(account: string): HttpRequest {
  return get(`${accountPath(account)}/balances`)
}

export function positionsRequest(account: string): HttpRequest {
  return get(`${accountPath(account)}/positions`)
}

/** Of today, and whatever is open. `accounts` may be several, with commas. */
export function ordersRequest(accounts: string, nextToken: string | null): HttpRequest {
  return get(`${accountPath(accounts)}/orders`, { pageSize: PAGE, nextToken })
}

/** Closed ones since a day. */
export function pastOrdersRequest(account: string, since: Day, nextToken: string | null): HttpRequest {
  return get(`${accountPath(account)}/historicalorders`, { since, pageSize: PAGE, nextToken })
}

export function orderRequest(account: string, orderId: string): HttpRequest {
  return get(`${accountPath(account)}/orders/${encodeURIComponent(orderId)}`)
}

export function pastOrderRequest(account: string, orderId: string, since: Day): HttpRequest {
  return get(`${accountPath(account)}/historicalorders/${encodeURIComponent(orderId)}`, { since })
}

/** `action` is what the broker calls the side of shares and futures; options and multi-leg orders state it themselves. @throws Malformed */
export function submitRequest(order: NewOrder, action: string | null): HttpRequest {
  return execution('/orders', { ...terms(order, action), OrderConfirmID: order.brokerClOrdId })
}

/** At a separate address, where nothing is placed; and without an id, so that it is no order anywhere. @throws Malformed */
export function previewRequest(order: PreviewOrder, action: string | null): HttpRequest {
  return execution('/orderconfirm', terms(order, action))
}

function execution(path: string, body: object): HttpRequest {
  return { method: 'POST', path: `/orderexecution${path}`, headers: WITH_BODY, body: JSON.stringify(body) }
}

function terms(order: PreviewOrder, action: string | null): object {
  return {
    AccountID: order.brokerAccountId,
    ...subject(order, action),
    OrderType: brokerValueOf(ORDER_TYPES, order.type),
    TimeInForce: { Duration: DURATIONS[order.tif] },
    ...prices(order),
    Route: 'Intelligent'
  }
}

/** Price, stop and quantity, which is the total. The kind of an order can change to a market order only, which has no price. */
export function replaceRequest({ brokerOrderId, ticket }: ReplaceOrder): HttpRequest {
  // The size of a multi-leg order is that of its legs, which cannot be changed.
  const quantity = ticket.legs === null && ticket.quantity !== null ? { Quantity: canonical(ticket.quantity) } : {}
  return {
    method: 'PUT',
    path: orderPath(brokerOrderId),
    headers: WITH_BODY,
    body: JSON.stringify({ ...quantity, ...(ticket.type === 'MKT' ? { OrderType: 'Market' } : prices(ticket)) })
  }
}

export function cancelRequest(brokerOrderId: string): HttpRequest {
  return { method: 'DELETE', path: orderPath(brokerOrderId), headers: NO_BODY }
}

/** The broker writes order ids with dashes in places, and takes them without. */
function orderPath(brokerOrderId: string): string {
  return `/orderexecution/orders/${encodeURIComponent(brokerOrderId.replaceAll('-', ''))}`
}

function subject({ symbol, instrument, side, quantity, legs }: OrderTicket, action: string | null): object {
  if (quantity === null) throw new Malformed('order_qty', 'a quantity', quantity)
  if (legs === null) {
    if (symbol === null) throw new Malformed('symbol', 'a symbol', symbol)
    return { Symbol: brokerSymbol(symbol, instrument), Quantity: canonical(quantity), TradeAction: action ?? optionAction(side) }
  }
  return {
    Legs: legs.map(leg => ({
      Symbol: brokerSymbol(leg.symbol, 'OPT'),
      Quantity: canonical(times(quantity, leg.ratio)),
      TradeAction: optionAction(leg.side)
    }))
  }
}

function optionAction(side: OrderTicket['side']): string {
  const action = OPTION_ACTIONS[side]
  if (action === undefined) throw new Malformed('side', `one of ${Object.keys(OPTION_ACTIONS).join(', ')}`, side)
  return action
}

/** The price of a multi-leg order is its net cost: positive is paid, negative is received. */
function prices({ legs, side, limitPrice, stopPrice }: OrderTicket): object {
  const limit = limitPrice !== null && legs !== null && side === 'SELL' ? negated(limitPrice) : limitPrice
  return { ...(limit === null ? {} : { LimitPrice: limit }), ...(stopPrice === null ? {} : { StopPrice: stopPrice }) }
}

/** Whether ratios are in lowest terms: otherwise the order would be reported back with a larger quantity and smaller ratios. */
export function isLowest(ratios: readonly Decimal[]): boolean {
  const common = ratios.map(ratio => BigInt(canonical(ratio))).reduce(commonDivisor, 0n)
  return common === 1n
}

/** Whether an order that keeps its id at the broker has the requested terms. */
export function hasTerms(found: OrderTicket, requested: OrderTicket): boolean {
  const net = (ticket: OrderTicket) =>
    ticket.limitPrice !== null && ticket.legs !== null && ticket.side === 'SELL' ? negated(ticket.limitPrice) : ticket.limitPrice
  return (
    found.type === requested.type &&
    areEqual(found.quantity, requested.quantity) &&
    areEqual(net(found), net(requested)) &&
    areEqual(found.stopPrice, requested.stopPrice)
  )
}

function accountPath(accounts: string): string {
  return `/brokerage/accounts/${accounts.split(',').map(encodeURIComponent).join(',')}`
}
