/** What all answers of the broker have in common: text for numbers, errors beside the records, messages of refusal. Pure. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { HttpReply } from '../kit/http.ts'
import { readJson } from '../kit/json.ts'
import { decimal, displayTextOrNull, field, items, object, records as recordsIn, type Wire } from '../kit/parse.ts'

/** Nearly every number is text already; the few that are not are kept as they were written. */
export function readAnswer(body: string): Wire {
  return object(readJson(body, { numbers: 'text' }), 'answer')
}

/** A number that may be missing: absent, null or an empty text. */
export function amount(wire: Wire, key: string): Decimal | null {
  const value = field(wire, key)
  return value === undefined || value === null || value === '' ? null : decimal(wire, key)
}

const NIL = /^0(?:\.0+)?$/

/** Whether a number is zero, by its text: this is checked for every line. */
export function isNil(number: Decimal): boolean {
  return number === '0' || NIL.test(number)
}

/** The records of a list, unread. @throws Malformed */
export function records(answer: Wire, key: string): readonly Wire[] {
  return recordsIn(field(answer, key), key)
}

/** A whole answer of lists. @throws BrokerFault for a partial one; Malformed */
export function wholeAnswer({ body }: Pick<HttpReply, 'body'>): Wire {
  const answer = readAnswer(body)
  demandWhole(answer)
  return answer
}

/** The records of one account: those of others are not ours to show. @throws BrokerFault; Malformed */
export function ownRecords(answer: Wire, key: string, account: string): readonly Wire[] {
  const found = records(answer, key)
  // An account that cannot be read is for the reader of the record.
  if (found.some(({ AccountID: own }) => typeof own === 'string' && own !== account))
    throw new BrokerFault('malformed', 'the broker answered with another account')
  return found
}

/** `accounts` may be several, with commas. */
export function accountPath(accounts: string): string {
  return `/brokerage/accounts/${accounts.split(',').map(encodeURIComponent).join(',')}`
}

/** One of `Errors[]`, or an answer that is nothing but an error. */
export interface BrokerError {
  readonly code: string
  readonly message: string
  readonly orderId: string | null
}

/** Errors beside the records: none when the list is left out. @throws Malformed */
export function errorsOf(answer: Wire): readonly BrokerError[] {
  const list = field(answer, 'Errors')
  return list === undefined || list === null ? [] : items(list, 'Errors', errorOf)
}

/** `{"Error", "Message"}`. @throws Malformed for anything else */
export function errorOf(wire: Wire): BrokerError {
  const code = displayTextOrNull(wire, 'Error', 64)
  if (code === null) throw new Malformed('Error', "the broker's name of it", field(wire, 'Error'))
  return { code, message: displayTextOrNull(wire, 'Message') ?? code, orderId: displayTextOrNull(wire, 'OrderID', 64) }
}

/** Errors that pass by themselves, and say nothing about the request. */
const PASSING = new Set(['InternalServerError', 'NotImplemented', 'ServiceUnavailable', 'GatewayTimeout', 'TooManyRequests'])

export function isPassing({ code }: BrokerError): boolean {
  return PASSING.has(code)
}

/** A partial list is a fault, never a shorter list. @throws BrokerFault */
export function demandWhole(answer: Wire): void {
  const [error] = errorsOf(answer)
  if (error !== undefined)
    throw new BrokerFault(isPassing(error) ? 'unreachable' : 'refused', `the broker answered in part: ${error.message}`)
}

/** The broker's display message in an answer that is not a success; empty when the answer is not from the broker. */
export function errorMessageOf({ body }: Pick<HttpReply, 'body'>): string {
  try {
    return errorOf(readAnswer(body)).message
  } catch {
    return ''
  }
}

export function isTokenRefused({ status }: Pick<HttpReply, 'status'>): boolean {
  return status === 401
}
