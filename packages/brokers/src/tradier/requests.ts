/** Tradier's requests, built and not sent. Paths are below the API's own. Pure. */

import { compare, type Decimal, isZero, times, ZERO } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { Day } from '@trunkline/core/domain/timestamp'
import type { Side } from '@trunkline/core/domain/vocabulary'
import type { NewOrder } from '@trunkline/core/ports/broker'
import type { PreviewOrder } from '@trunkline/core/ports/preview'
import type { HttpRequest } from '../kit/http.ts'
import { encoded, get, NO_BODY, type Query, requireBrokerValue } from '../kit/requests.ts'
import { OPTION_SIDES, ORDER_TYPES } from './enums.ts'
import { toTradier, underlyingOf } from './symbols.ts'

const FORM = [...NO_BODY, 'content-type', 'application/x-www-form-urlencoded'] as const
/** Records of a page; Tradier's own default is 25. */
export const ORDERS_PAGE = 100
export const HISTORY_PAGE = 100

export const profileRequest = (): HttpRequest => get('/user/profile', {})

export const balancesRequest = (account: string): HttpRequest => get(`${of(account)}/balances`, {})

export const positionsRequest = (account: string): HttpRequest => get(`${of(account)}/positions`, {})

/** Of the session, and whatever is still open; `filter=all` would get an application switched off that asks often. */
export const ordersRequest = (account: string, page: number): HttpRequest =>
  get(`${of(account)}/orders`, { includeTags: 'true', page: String(page), limit: String(ORDERS_PAGE) })

export const orderRequest = (account: string, order: string): HttpRequest =>
  get(`${of(account)}/orders/${encodeURIComponent(order)}`, { includeTags: 'true' })

export const historyRequest = (account: string, start: Day, end: Day, page: number): HttpRequest =>
  get(`${of(account)}/history`, { start, end, page: String(page), limit: String(HISTORY_PAGE) })

/** By POST, because a list of options makes a long address. */
export const quotesRequest = (symbols: readonly string[]): HttpRequest =>
  send('POST', '/markets/quotes', { symbols: symbols.join(','), greeks: 'false' })

/** A stream's session; its answer is worth five minutes. */
export const sessionRequest = (of: 'accounts' | 'markets'): HttpRequest => send('POST', `/${of}/events/session`, {})

export const cancelRequest = (account: string, order: string): HttpRequest => ({
  method: 'DELETE',
  path: `${of(account)}/orders/${encodeURIComponent(order)}`,
  headers: NO_BODY
})

/** How an order is to be placed, where the ticket alone does not say. */
export interface Placing {
  readonly duration: string
  /** Of shares: a side that depends on the position. */
  readonly side: string | null
}

/** @throws Malformed for a value that Tradier does not have. */
export function placeRequest(order: NewOrder, placing: Placing): HttpRequest {
  return send('POST', `${of(order.brokerAccountId)}/orders`, {
    ...subject(order, placing),
    ...terms(order, placing.duration),
    tag: order.brokerClOrdId
  })
}

const PREVIEW = { preview: 'true' }

/**
 * Tradier takes previews where it takes orders, and a field alone distinguishes them. It comes first, so that a form of which the end is missing is a preview still;
 * there is no tag, by which an order would be found. @throws Malformed
 */
export function previewRequest(order: PreviewOrder, placing: Placing): HttpRequest {
  return send('POST', `${of(order.brokerAccountId)}/orders`, { ...PREVIEW, ...subject(order, placing), ...terms(order, placing.duration) })
}

/** Whether Tradier will take it for a preview. */
export function isPreview({ body = '' }: HttpRequest): boolean {
  return body.startsWith(`${encoded(PREVIEW)}&`) && new URLSearchParams(body).getAll('preview').length === 1
}

/** Only these can change. @throws Malformed */
export function changeRequest(account: string, order: string, ticket: OrderTicket, duration: string): HttpRequest {
  return send('PUT', `${of(account)}/orders/${encodeURIComponent(order)}`, terms(ticket, duration))
}

function subject({ instrument, symbol, side, quantity, legs }: OrderTicket, placing: Placing): Query {
  if (legs !== null) return multiLegOf(legs, quantity)
  if (symbol === null || quantity === null) throw new Malformed('order', 'one of a symbol and a quantity', instrument)
  if (instrument === 'OPT')
    return {
      class: 'option',
      symbol: underlyingOf(symbol),
      option_symbol: toTradier(symbol),
      side: requireBrokerValue(OPTION_SIDES, side, 'side'),
      quantity: whole(quantity)
    }
  return { class: 'equity', symbol: toTradier(symbol), side: placing.side, quantity: whole(quantity) }
}

function multiLegOf(legs: NonNullable<OrderTicket['legs']>, quantity: Decimal | null): Query {
  const [first] = legs
  if (first === undefined || quantity === null) throw new Malformed('legs', 'of a multi-leg order with a quantity', legs.length)
  return {
    class: 'multileg',
    symbol: underlyingOf(first.symbol),
    ...Object.fromEntries(
      legs.flatMap((leg, index) => [
        [`side[${index}]`, requireBrokerValue(OPTION_SIDES, leg.side, 'side')],
        [`quantity[${index}]`, whole(times(leg.ratio, quantity))],
        [`option_symbol[${index}]`, toTradier(leg.symbol)]
      ])
    )
  }
}

function terms({ type, side, legs, limitPrice, stopPrice }: OrderTicket, duration: string): Query {
  if (legs !== null) {
    const kind = multiLegTypeOf(side, limitPrice)
    return { type: kind, duration, price: kind === 'debit' || kind === 'credit' ? limitPrice : null }
  }
  return { type: requireBrokerValue(ORDER_TYPES, type, 'order_type'), duration, price: limitPrice, stop: stopPrice }
}

/** The order type for which way the money of a multi-leg order goes. */
function multiLegTypeOf(side: Side, limitPrice: Decimal | null): string {
  if (limitPrice === null) return 'market'
  if (isZero(limitPrice)) return 'even'
  if (compare(limitPrice, ZERO) < 0) throw new Malformed('order_limit_price', 'positive: bought at a debit, sold at a credit', limitPrice)
  return side === 'BUY' ? 'debit' : 'credit'
}

/** `5.00` is five. @throws Malformed */
function whole(quantity: Decimal): string {
  const found = /^([1-9]\d{0,7})(?:\.0+)?$/.exec(quantity)?.[1]
  if (found !== undefined) return found
  throw new Malformed('order_qty', 'a positive whole number', quantity)
}

function of(account: string): string {
  return `/accounts/${encodeURIComponent(account)}`
}

function send(method: 'POST' | 'PUT', path: string, fields: Query): HttpRequest {
  return { method, path, headers: FORM, body: encoded(fields) }
}
