/**
 * What only TradeStation does: errors beside the records and among them, quotas in headers, and messages that repeat a leg in the place of
 * another.
 */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { BoundedMap } from '../kit/bounded-cache.ts'
import { brokerNowMs, countIn, type HttpReply, limitsIn } from '../kit/http.ts'
import { readObject } from '../kit/json.ts'
import { decimal, displayTextOrNull, field, items, records as recordsIn, text, type Wire } from '../kit/parse.ts'
import { type BrokerLimits, RESET_MS_MAX } from '../kit/rate-limiter.ts'
import type { ListPage } from '../kit/runtime/read-definitions.ts'

/** Each has a quota of its own. */
export type Resource =
  | ('commands' | 'accounts' | 'balances' | 'positions' | 'orders')
  | ('quotes' | 'bars' | 'symbols' | 'options' | 'quote_streams' | 'bar_streams' | 'depth_streams')

type Headers = Pick<HttpReply, 'headers'>
type Body = Pick<HttpReply, 'body'>

/** A number that may be missing: absent, null or an empty text. */
export function amount(wire: Wire, key: string): Decimal | null {
  const value = field(wire, key)
  return value === undefined || value === null || value === '' ? null : decimal(wire, key)
}

/** The records of a list, unread. @throws Malformed */
export function records(answer: Wire, key: string): readonly Wire[] {
  return recordsIn(field(answer, key), key)
}

/** A whole answer of lists: a partial one is a fault, never a shorter list. @throws BrokerFault; Malformed */
export function wholeAnswer({ body }: Body): Wire {
  const answer = readObject(body)
  const [error] = errorsOf(answer)
  if (error === undefined) return answer
  throw new BrokerFault(isPassing(error) ? 'unreachable' : 'refused', `the broker answered in part: ${error.message}`)
}

/** The records of one account: those of others are not ours to show. @throws BrokerFault; Malformed */
export function ownRecords(answer: Wire, key: string, account: string): readonly Wire[] {
  const found = records(answer, key)
  // An account that cannot be read is for the reader of the record.
  if (found.some(({ AccountID: own }) => typeof own === 'string' && own !== account))
    throw new BrokerFault('malformed', 'the broker answered with another account')
  return found
}

/** The broker's clock, as far as an answer has it. */
export function clockOf(reply: Headers): Pick<ListPage, 'brokerClock'> {
  const ms = brokerNowMs(reply)
  return ms === null ? {} : { brokerClock: timestampOfMs(ms) }
}

/** `accounts` may be several, with commas. */
export function accountPath(accounts: string): string {
  return `/brokerage/accounts/${accounts.split(',').map(encodeURIComponent).join(',')}`
}

/** One of `Errors[]`, or an answer that is nothing but an error. */
export interface BrokerError {
  readonly code: string
  readonly message: string
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
  return { code, message: displayTextOrNull(wire, 'Message') ?? code }
}

/** Whether an answer or a record is nothing but an error: these come with a success too. */
export function isError(wire: Wire): boolean {
  return typeof field(wire, 'Error') === 'string'
}

/** Errors that pass by themselves, and say nothing about the request. */
const PASSING = new Set(['InternalServerError', 'NotImplemented', 'ServiceUnavailable', 'GatewayTimeout', 'TooManyRequests'])

export function isPassing({ code }: BrokerError): boolean {
  return PASSING.has(code)
}

/** The broker's display message in an answer that is not a success; empty when the answer is not from the broker. */
export function errorMessageOf({ body }: Body): string {
  try {
    return errorOf(readObject(body)).message
  } catch {
    return ''
  }
}

export function isTokenRefused({ status }: Pick<HttpReply, 'status'>): boolean {
  return status === 401
}

/** What is left of the quota of the requested resource, and the seconds until it resets. */
export function limitsOf(reply: Headers): BrokerLimits | null {
  return limitsIn(reply, ['x-ratelimit-remaining', 'x-ratelimit-reset', ''], resetS => resetS * 1_000)
}

/** The pause that a 429 asks for: the broker's own header, or the common one. */
export function resetMs(reply: Headers): number | null {
  const resetS = countIn(reply, 'x-ratelimit-reset') ?? countIn(reply, 'retry-after')
  return resetS === null ? null : Math.min(resetS * 1_000, RESET_MS_MAX)
}

/** Orders remembered; of an older one only the legs of its message are known. */
const ORDERS_MAX = 10_000

/**
 * The legs of multi-leg orders as they were last sent. A message may repeat one leg in the place of another, in any order (recorded in
 * Lean.Brokerages.TradeStation, pull request 25): a leg counts once, and one that is missing is as it was before.
 */
export class KnownLegs {
  readonly #legs = new BoundedMap<ReadonlyMap<string, Wire>>(ORDERS_MAX)

  /** `isPartial`: a leg was repeated or missing, so the order should be read again before it is believed. @throws Malformed */
  completed(order: Wire): { readonly order: Wire; readonly isPartial: boolean } {
    const id = text(order, 'OrderID', 64)
    const sent = records(order, 'Legs')
    const known = this.#legs.get(id)
    if (sent.length < 2 && known === undefined) return { order, isPartial: false }
    // Symbol and side; the spelling of sides varies.
    const keyOf = (leg: Wire) => ['Symbol', 'BuyOrSell', 'OpenOrClose'].map(key => String(field(leg, key)).toUpperCase()).join(' ')
    const own = new Map(sent.map(leg => [keyOf(leg), leg]))
    const all = new Map([...(known ?? []), ...own])
    if (all.size > 1) this.#legs.put(id, all)
    const isPartial = own.size < sent.length || own.size < all.size
    return { order: isPartial ? { ...order, Legs: [...all.values()] } : order, isPartial }
  }
}
