/** Which answers of Alpaca prove acceptance and which prove refusal. Everything else is unknown. Pure. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { NewOrder, OrderReport, Outcome, ReplaceOrder } from '@trunkline/core/ports/broker'
import { isSuccess } from '../kit/calls.ts'
import type { HttpReply } from '../kit/http.ts'
import { displayTextOrNull, field, type Wire } from '../kit/parse.ts'
import { parseOrder } from './orders.ts'
import { readRecord } from './parse.ts'
import { rejectCodeOf } from './reject-codes.ts'

/** Statuses that mean "not done" when Alpaca's own error comes with them. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 404, 422, 429])
/**
 * Alpaca has an order with our client order id: the one we sent, for no other client derives the same id. Look it up, never call it refused. Its
 * code is that of other refusals as well, so the message decides.
 */
const DUPLICATE = /client.?order.?id must be unique/i

export function interpretSubmit(reply: HttpReply, sent: NewOrder): Outcome<OrderReport> {
  if (!isSuccess(reply.status)) return refusal(reply, sent)
  const order = parseOrder(readRecord(reply.body), sent.brokerAccountId)
  ours(order.brokerClOrdId, sent.brokerClOrdId, 'client_order_id')
  ours(order.symbol, sent.symbol, 'symbol')
  ours(legsKey(order), legsKey(sent), 'legs')
  return { kind: 'accepted', value: order }
}

/** A success means that the new order was created, not that it has replaced the old one. */
export function interpretReplace(reply: HttpReply, sent: ReplaceOrder): Outcome<OrderReport> {
  if (!isSuccess(reply.status)) return refusal(reply, sent.ticket)
  const order = parseOrder(readRecord(reply.body), sent.brokerAccountId)
  ours(order.brokerClOrdId, sent.brokerClOrdId, 'client_order_id')
  ours(order.replacesBrokerOrderId, sent.brokerOrderId, 'replaces')
  return { kind: 'accepted', value: order }
}

/** Only "no content" means that Alpaca accepted the request; the result is reported by the stream. */
export function interpretCancel(reply: HttpReply): Outcome<null> {
  if (reply.status === 204 && reply.body === '') return { kind: 'accepted', value: null }
  return isSuccess(reply.status)
    ? { kind: 'unknown', cause: new Error(`Alpaca answered ${reply.status} to a cancel`) }
    : refusal(reply, null)
}

function refusal<T>(reply: HttpReply, sent: OrderTicket | null): Outcome<T> {
  const error = parseError(reply.body)
  if (!REFUSALS.has(reply.status) || DUPLICATE.test(error.message))
    return { kind: 'unknown', cause: new Error(`Alpaca answered ${reply.status}: ${error.message}`) }
  return { kind: 'refused', message: error.message, rejectCode: rejectCodeOf(error.message, sent), brokerStatus: error.code }
}

/** What is done with which contract, in whatever order the legs come. */
function legsKey({ legs }: OrderTicket): string | null {
  if (legs === null) return null
  const keys = legs.map(({ symbol, side, ratio }) => `${side} ${ratio} ${symbol}`)
  return keys.toSorted().join(', ')
}

function ours(found: string | null, expected: string | null, what: string): void {
  if (found !== expected) throw new Malformed(what, `our own, ${expected}`, found)
}

/** An error from Alpaca itself, distinguished from a gateway's by its shape. Some have no code. */
interface AlpacaError {
  readonly code: string | null
  readonly message: string
}

/** @throws Malformed */
function parseError(body: string): AlpacaError {
  const wire = readRecord(body)
  const message = displayTextOrNull(wire, 'message')
  if (message === null) throw new Malformed('message', 'words', field(wire, 'message'))
  return { code: codeOf(wire), message }
}

function codeOf(wire: Wire): string | null {
  const code = field(wire, 'code')
  return typeof code === 'number' || (typeof code === 'string' && code !== '') ? String(code).slice(0, 32) : null
}

/** Alpaca's display message of an error; empty when the error is not from Alpaca. */
export function errorMessageOf(reply: HttpReply): string {
  return errorOf(reply)?.message ?? ''
}

/** Whether an answer to a look-up says that there is no such record. */
export function isNotFound(reply: HttpReply): boolean {
  return reply.status === 404 && errorOf(reply) !== null
}

/** An id that is none at all is refused before it is looked for. */
export function isInvalidOrderId(reply: HttpReply): boolean {
  return reply.status === 422 && /order.?id/i.test(errorOf(reply)?.message ?? '')
}

/** Whether an answer about a symbol says that there is none of it, or that it cannot be one. */
export function isUnknownInstrument(reply: HttpReply): boolean {
  return reply.status !== 429 && errorOf(reply) !== null
}

const SCOPE = /scope/i

/**
 * Whether the credentials are not (or no longer) good at this host. A missing scope is no matter of the credentials' worth, and a 403 with a code is
 * a refusal of the request.
 */
export function isUnauthorized(reply: HttpReply): boolean {
  if (reply.status !== 401 && reply.status !== 403) return false
  const error = errorOf(reply)
  if (error === null) return reply.status === 401
  if (SCOPE.test(error.message)) return false
  return reply.status === 401 || (error.code === null && /^forbidden/i.test(error.message))
}

function errorOf(reply: HttpReply): AlpacaError | null {
  try {
    return parseError(reply.body)
  } catch {
    return null
  }
}
