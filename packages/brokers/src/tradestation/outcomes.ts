/** Which answers of the broker prove acceptance and which prove refusal. Everything else is unknown. Pure. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { NewOrder, OrderReport, Outcome } from '@trunkline/core/ports/broker'
import type { HttpReply } from '../kit/http.ts'
import { field, text, type Wire } from '../kit/parse.ts'
import { brokerValueOf } from '../kit/requests.ts'
import { type BrokerError, errorOf, errorsOf, readAnswer, records } from './answers.ts'
import { ORDER_TYPES } from './enums.ts'
import { rejectCodeOf } from './reject-codes.ts'

/** Statuses that mean "not done", each with the messages it may carry. */
const REFUSALS: { readonly [status: number]: readonly string[] } = {
  // The broker refuses inside a success too, so the error decides and not the status.
  200: ['FAILED'],
  400: ['BadRequest', 'FAILED'],
  401: ['Unauthorized'],
  403: ['Forbidden', 'FAILED'],
  404: ['NotFound', 'FAILED'],
  429: ['TooManyRequests']
}

/** How the second use of a confirm id is answered is not documented: any answer about it may be about the order that was accepted. */
const DUPLICATE_CONFIRM_ID = /duplicate|confirm ?id/i
/** A failure of the broker's own machines proves nothing of the order. */
const INTERNAL_FAILURE = /time[ds]?[ -]?out|unavailable|internal (?:server )?error|no response|communicat/i
/** A second cancel requests what is happening already. */
const IS_UNDER_WAY = /cancel\w* (?:request )?(?:is |has been )?(?:already|pending|in progress|under way)|already .*cancel/i
const BOILERPLATE = /^Order failed\. Reason: */

export function interpretSubmit(reply: HttpReply, sent: NewOrder, at: Timestamp): Outcome<OrderReport> {
  const answer = readAnswer(reply.body)
  const taken = field(answer, 'Orders') === undefined ? [] : records(answer, 'Orders')
  const failed = failuresIn(answer, taken)
  const [order] = taken
  if (reply.status === 200 && taken.length === 1 && order !== undefined && failed.length === 0)
    return { kind: 'accepted', value: sentReport(sent, text(order, 'OrderID', 64), at) }
  if (taken.some(each => !isError(each)) || failed.some(({ message }) => DUPLICATE_CONFIRM_ID.test(message)))
    return { kind: 'unknown', cause: new Error('the broker’s answer names an order and a failure') }
  return refusal(reply.status, failed)
}

/** Of a cancel or a replacement: the broker says that it has forwarded it, and no more. */
export function interpretChange(reply: HttpReply, brokerOrderId: string, kind: 'cancel' | 'replace'): Outcome<null> {
  const answer = readAnswer(reply.body)
  const failed = errorsOrSelf(answer)
  if (reply.status === 200 && failed.length === 0) {
    const found = text(answer, 'OrderID', 64)
    if (found.replaceAll('-', '') !== brokerOrderId.replaceAll('-', '')) throw new Malformed('OrderID', `our own, ${brokerOrderId}`, found)
    return { kind: 'accepted', value: null }
  }
  const isUnderWay = kind === 'cancel' && failed.some(({ message }) => IS_UNDER_WAY.test(message))
  return isUnderWay ? { kind: 'accepted', value: null } : refusal(reply.status, failed)
}

/** Only what the broker marks as a refusal is one. */
export function refusal<T>(status: number, errors: readonly BrokerError[]): Outcome<T> {
  const codes = REFUSALS[status]
  const [first] = errors
  if (first === undefined || codes === undefined || !errors.every(error => codes.includes(error.code)))
    return { kind: 'unknown', cause: new Error(`the broker answered ${status} ${first?.code ?? 'without its own error'}`) }
  if (errors.some(({ message }) => INTERNAL_FAILURE.test(message)))
    return { kind: 'unknown', cause: new Error(`the broker reports an internal failure: ${first.message}`) }
  const message = first.message.replace(BOILERPLATE, '') || first.message
  return { kind: 'refused', message, rejectCode: rejectCodeOf(message), brokerStatus: first.code }
}

/** Errors beside the records, or an answer that is an error itself. */
function errorsOrSelf(answer: Wire): readonly BrokerError[] {
  return isError(answer) ? [errorOf(answer)] : errorsOf(answer)
}

/** Some errors stand among the records instead of beside them. */
export function failuresIn(answer: Wire, found: readonly Wire[]): readonly BrokerError[] {
  return [...errorsOrSelf(answer), ...found.filter(isError).map(errorOf)]
}

export function isError(wire: Wire): boolean {
  return typeof field(wire, 'Error') === 'string'
}

/** The broker gives an order's id and no more: the rest is what was sent. "Taken" means forwarded, and a rejection may follow. */
function sentReport(sent: NewOrder, brokerOrderId: string, at: Timestamp): OrderReport {
  return {
    ...sent,
    brokerOrderId,
    // It was sent, and is never reported back.
    brokerClOrdId: null,
    status: 'pending',
    brokerStatus: 'OPN',
    // Its display text repeats the order.
    brokerMessage: null,
    rejectCode: null,
    brokerOrderType: brokerValueOf(ORDER_TYPES, sent.type) ?? null,
    execDest: null,
    fills: null,
    filledTotal: null,
    entryTime: at,
    updatedAt: at,
    replacesBrokerOrderId: null,
    replacedByBrokerOrderId: null
  }
}
