/** Orders at the sandbox: what it takes, its requests, and which answers prove what. Everything else is unknown. Pure. */

import type { OrderOffer } from '@trunkline/core/domain/combinations'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { Side } from '@trunkline/core/domain/vocabulary'
import type { NewOrder, OrderReport, Outcome, ReplaceOrder } from '@trunkline/core/ports/broker'
import { NOTHING_ESTIMATED, type OrderEstimate, type PreviewOrder } from '@trunkline/core/ports/preview'
import { ALL_TYPES, OPTION_SIDES, REGULAR, SIDES, TERMS } from '../kit/capabilities.ts'
import type { HttpReply, HttpRequest } from '../kit/http.ts'
import { legTexts } from '../kit/order-rules.ts'
import { decimalOrNull, demandOurs, nested, nestedOrNull, text, texts, type Wire } from '../kit/parse.ts'
import { demandNoOrder } from '../kit/preview.ts'
import * as kit from '../kit/requests.ts'
import { json, type Query, remove } from '../kit/requests.ts'
import type { OrderDefinitions } from '../kit/runtime/definition.ts'
import {
  ORDER_SIDES,
  ORDER_TYPES,
  parseError,
  parseOrder,
  readAnswer,
  rejectCodeOf,
  type SandboxError,
  sandboxSide,
  TIME_IN_FORCE
} from './codecs.ts'

const API = '/api/v1'

/** A read below the API; what is null is left out. */
export function get(path: string, query: Query = {}): HttpRequest {
  return kit.get(`${API}${path}`, query)
}

const SIZED = ['order_qty', 'order_notional', 'order_limit_price', 'stop_price'] as const
/** Which orders the sandbox takes. */
export const ORDER_OFFER = {
  name: 'Trunkline Sandbox',
  instruments: ['STK', 'OPT', 'MLEG_OPT', 'FUT', 'CRYPTO'],
  orderTypes: { STK: ALL_TYPES, OPT: ALL_TYPES, MLEG_OPT: ['MKT', 'LMT'], FUT: ALL_TYPES, CRYPTO: ALL_TYPES },
  // But for shares and crypto neither auctions nor extended hours, and for crypto no auctions.
  timesInForce: {
    STK: [...REGULAR, 'OPEN', 'CLOSE', 'DAY+', 'GTC+'],
    ...{ OPT: REGULAR, MLEG_OPT: REGULAR, FUT: REGULAR, CRYPTO: [...REGULAR, 'DAY+', 'GTC+'] }
  },
  sides: { STK: SIDES, OPT: OPTION_SIDES, MLEG_OPT: SIDES, FUT: SIDES, CRYPTO: SIDES },
  exclusions: [
    // A stop waits for its price, and takes part in no auction.
    { types: ['STP', 'STPLMT'], tifs: ['IOC', 'FOK', 'OPEN', 'CLOSE'] },
    // Fractions of a share trade at the market.
    { instruments: ['STK'], types: ['LMT', 'STP', 'STPLMT'], sizes: ['fraction'] }
  ],
  onlyInSession: ['IOC', 'FOK'],
  extendedHours: 'with_regular',
  replaceFields: { STK: SIZED, OPT: TERMS, MLEG_OPT: ['order_qty', 'order_limit_price'], FUT: TERMS, CRYPTO: SIZED },
  notional: true,
  fractional: true
} as const satisfies OrderOffer

/** Previews have an address of their own, where nothing is placed. */
const PREVIEW_PATH = `${API}/orders/preview`

export const SANDBOX_ORDERS: OrderDefinitions<'api', null> = {
  resource: 'api',
  placing: () => null,
  submit: { request: submitRequest, interpret: interpretSubmit },
  replace: { request: replaceRequest, interpret: interpretReplace },
  cancel: { request: (_account, brokerOrderId) => cancelRequest(brokerOrderId), interpret: interpretCancel },
  preview: { request: previewRequest, isPreview: ({ path }) => path === PREVIEW_PATH, interpret: interpretPreview }
}

/** @throws Malformed for a value that the sandbox does not have. */
export function submitRequest(order: NewOrder): HttpRequest {
  return json('POST', `${API}/orders`, { account: order.brokerAccountId, client_order_id: order.brokerClOrdId, ...terms(order) })
}

/** @throws Malformed for a value that the sandbox does not have. */
export function previewRequest(order: PreviewOrder): HttpRequest {
  return json('POST', PREVIEW_PATH, { account: order.brokerAccountId, ...terms(order) })
}

function terms(ticket: OrderTicket): object {
  return {
    ...subject(ticket),
    kind: ORDER_TYPES.write(ticket.type, 'order_type'),
    lifetime: TIME_IN_FORCE.write(ticket.tif, 'order_tif'),
    ...amounts(ticket)
  }
}

export function replaceRequest({ brokerOrderId, brokerClOrdId, ticket }: ReplaceOrder): HttpRequest {
  return json('POST', `${API}/orders/${encodeURIComponent(brokerOrderId)}/amend`, { client_order_id: brokerClOrdId, ...amounts(ticket) })
}

export function cancelRequest(brokerOrderId: string): HttpRequest {
  return remove(`${API}/orders/${encodeURIComponent(brokerOrderId)}`)
}

/** A multi-leg order has legs and a direction; anything else a symbol and a side. */
function subject({ symbol, side, instrument, legs }: OrderTicket): object {
  if (legs === null) return { symbol, ...sideFields(side, instrument === 'OPT', 'side') }
  return {
    direction: ORDER_SIDES.write(side, 'side'),
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

/** Statuses that mean "not done", each with the codes it may carry; null: any code. The body must be the sandbox’s own error. */
const REFUSALS: { readonly [status: number]: readonly string[] | null } = {
  400: ['bad_request'],
  401: ['token_missing', 'token_invalid'],
  403: ['scope_missing'],
  404: ['unknown_order', 'unknown_account', 'unknown_symbol', 'unknown_route'],
  409: ['order_not_open', 'order_busy'],
  413: ['too_large'],
  // The list of refusals grows with the sandbox; the status alone proves that nothing was accepted.
  422: null,
  429: ['slow_down']
}

/**
 * The sandbox has an order with our client order id: the one we sent, for no other client derives the same id. Look it up, never call it
 * refused.
 */
const DUPLICATE = 'duplicate_client_order_id'

export function interpretSubmit(reply: HttpReply, sent: NewOrder): Outcome<OrderReport> {
  const answer = readAnswer(reply.body)
  if (reply.status !== 201) return refusal(reply.status, answer)
  const order = parseOrder(nested(answer, 'order'))
  demandOurs('client_order_id', order.brokerClOrdId, sent.brokerClOrdId)
  demandOurs('account', order.brokerAccountId, sent.brokerAccountId)
  demandOurs('symbol', order.symbol, sent.symbol)
  demandOurs('legs', legTexts(order).join(), legTexts(sent).join())
  return { kind: 'accepted', value: order }
}

/** The sandbox’s numbers are estimates of its own engine. @throws PreviewPlaced for an answer that names an order */
export function interpretPreview(reply: HttpReply, requested: PreviewOrder): Outcome<OrderEstimate> {
  const answer = readAnswer(reply.body)
  const order = nestedOrNull(answer, 'order')
  if (order !== null) demandNoOrder(order, 'id')
  if (reply.status !== 200) return refusal(reply.status, answer)
  const seen = nested(answer, 'preview')
  demandOurs('account', text(seen, 'account'), requested.brokerAccountId)
  const estimate = {
    ...NOTHING_ESTIMATED,
    currency: text(seen, 'currency', 8),
    price: decimalOrNull(seen, 'price'),
    cost: decimalOrNull(seen, 'cost'),
    commission: decimalOrNull(seen, 'commission'),
    fees: decimalOrNull(seen, 'fees'),
    initialMargin: decimalOrNull(seen, 'initial_margin'),
    buyingPowerChange: decimalOrNull(seen, 'buying_power'),
    warnings: texts(seen, 'warnings')
  }
  return { kind: 'accepted', value: estimate }
}

export function interpretReplace(reply: HttpReply, sent: ReplaceOrder): Outcome<OrderReport | null> {
  const answer = readAnswer(reply.body)
  if (reply.status === 202) {
    // The sandbox is slow: it has not created the new order yet, and may still refuse to.
    demandOurs('id', parseOrder(nested(answer, 'order')).brokerOrderId, sent.brokerOrderId)
    return { kind: 'accepted', value: null }
  }
  if (reply.status !== 200) return refusal(reply.status, answer)
  const order = parseOrder(nested(answer, 'order'))
  demandOurs('amends', order.replacesBrokerOrderId, sent.brokerOrderId)
  demandOurs('client_order_id', order.brokerClOrdId, sent.brokerClOrdId)
  return { kind: 'accepted', value: order }
}

export function interpretCancel(reply: HttpReply, brokerOrderId: string): Outcome<OrderReport | null> {
  const answer = readAnswer(reply.body)
  if (reply.status === 200 || reply.status === 202) {
    const order = parseOrder(nested(answer, 'order'))
    demandOurs('id', order.brokerOrderId, brokerOrderId)
    return { kind: 'accepted', value: order }
  }
  const cancelling = reply.status === 409 ? underWay(answer, brokerOrderId) : null
  return cancelling === null ? refusal(reply.status, answer) : { kind: 'accepted', value: cancelling }
}

/** A second cancel of an order that is being cancelled requests what is happening already. */
function underWay(answer: Wire, brokerOrderId: string): OrderReport | null {
  const wire = nestedOrNull(answer, 'order')
  const order = wire === null ? null : parseOrder(wire)
  return order?.status === 'pending_cancel' && order.brokerOrderId === brokerOrderId ? order : null
}

function refusal<T>(status: number, answer: Wire): Outcome<T> {
  const error = parseError(answer)
  if (!isRefusal(status, error)) return { kind: 'unknown', cause: new Error(`the sandbox answered ${status} ${error.code}`) }
  return { kind: 'refused', message: error.message, rejectCode: rejectCodeOf(error.code), brokerStatus: error.code }
}

function isRefusal(status: number, error: SandboxError): boolean {
  const codes = REFUSALS[status]
  return codes !== undefined && error.code !== DUPLICATE && (codes === null || codes.includes(error.code))
}
