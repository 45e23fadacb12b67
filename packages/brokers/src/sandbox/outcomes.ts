/** Which answers of the sandbox prove acceptance and which prove refusal. Everything else is unknown. Pure. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { NewOrder, OrderReport, Outcome, ReplaceOrder } from '@trunkline/core/ports/broker'
import { NOTHING_ESTIMATED, type OrderEstimate, type PreviewOrder } from '@trunkline/core/ports/preview'
import type { HttpReply } from '../kit/http.ts'
import { decimalOrNull, nested, nestedOrNull, text, texts, type Wire } from '../kit/parse.ts'
import { demandNoOrder } from '../kit/preview.ts'
import { parseError, parseOrder, parseOrderAnswer, readAnswer, type SandboxError } from './parse.ts'
import { rejectCodeOf } from './reject-codes.ts'

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

/** The sandbox has an order with our client order id: the one we sent, for no other client derives the same id. Look it up, never call it refused. */
const DUPLICATE = 'duplicate_client_order_id'

export function interpretSubmit(reply: HttpReply, sent: NewOrder): Outcome<OrderReport> {
  const answer = readAnswer(reply.body)
  if (reply.status !== 201) return refusal(reply.status, answer)
  const { order } = parseOrderAnswer(answer)
  ours(order.brokerClOrdId, sent.brokerClOrdId, 'client_order_id')
  ours(order.brokerAccountId, sent.brokerAccountId, 'account')
  ours(order.symbol, sent.symbol, 'symbol')
  ours(legsKey(order), legsKey(sent), 'legs')
  return { kind: 'accepted', value: order }
}

/** The sandbox’s numbers are estimates of its own engine. @throws PreviewPlaced for an answer that names an order */
export function interpretPreview(reply: HttpReply, requested: PreviewOrder): Outcome<OrderEstimate> {
  const answer = readAnswer(reply.body)
  const order = nestedOrNull(answer, 'order')
  if (order !== null) demandNoOrder(order, 'id')
  if (reply.status !== 200) return refusal(reply.status, answer)
  const seen = nested(answer, 'preview')
  ours(text(seen, 'account'), requested.brokerAccountId, 'account')
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
    ours(parseOrderAnswer(answer).order.brokerOrderId, sent.brokerOrderId, 'id')
    return { kind: 'accepted', value: null }
  }
  if (reply.status !== 200) return refusal(reply.status, answer)
  const { order } = parseOrderAnswer(answer)
  ours(order.replacesBrokerOrderId, sent.brokerOrderId, 'amends')
  ours(order.brokerClOrdId, sent.brokerClOrdId, 'client_order_id')
  return { kind: 'accepted', value: order }
}

export function interpretCancel(reply: HttpReply, brokerOrderId: string): Outcome<OrderReport | null> {
  const answer = readAnswer(reply.body)
  if (reply.status === 200 || reply.status === 202) {
    const { order } = parseOrderAnswer(answer)
    ours(order.brokerOrderId, brokerOrderId, 'id')
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

/** What is done with which contract, so that two orders of the same legs have the same key. */
function legsKey({ legs }: OrderTicket): string | null {
  return legs === null ? null : legs.map(({ symbol, side, ratio }) => `${side} ${ratio} ${symbol}`).join(', ')
}

function ours(found: string | null, expected: string | null, what: string): void {
  if (found !== expected) throw new Malformed(what, `our own, ${expected}`, found)
}

/** The sandbox's display message of an error; empty when the error is not from the sandbox. */
export function errorMessageOf(reply: HttpReply): string {
  try {
    return parseError(readAnswer(reply.body)).message
  } catch {
    return ''
  }
}

/** Whether the sandbox says that it has no such order; anything else of the kind is a fault. @throws Malformed */
export function isUnknownOrder(answer: Wire): boolean {
  return parseError(answer).code === 'unknown_order'
}

/** @throws Malformed */
export function isUnknownSymbol(answer: Wire): boolean {
  return parseError(answer).code === 'unknown_symbol'
}

export function isTokenRefused(reply: HttpReply): boolean {
  return reply.status === 401
}
