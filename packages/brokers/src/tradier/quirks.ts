/**
 * What only Tradier does: JSON made of XML, refusals in four forms, and a remaining quota in every answer. Pure; readers throw only
 * Malformed.
 */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { isPlainDecimal } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { type HttpReply, limitsIn } from '../kit/http.ts'
import { readObject } from '../kit/json.ts'
import { decimal, displayTextOrNull, field, object, records, text, type Wire } from '../kit/parse.ts'
import type { BrokerLimits } from '../kit/rate-limiter.ts'
import { INTERNAL_FAILURE } from '../kit/reject-code.ts'

/** What Tradier counts together, each a minute from the first request on. */
export type Resource = 'standard' | 'market' | 'trading'

const ITEMS_MAX = 100_000
const TEXT_MAX = 500

/**
 * An object with every number as text. @throws BrokerFault for an answer that has nothing but errors: `refused`, or `unreachable` for a
 * failure behind the API
 */
export function requestedAnswer({ body }: { readonly body: string }): Wire {
  const answer = readObject(body)
  const errors = errorsOf(answer)
  if (errors !== null && Object.keys(answer).length === 1) {
    const isFailure = errors.some(error => INTERNAL_FAILURE.test(error))
    throw new BrokerFault(isFailure ? 'unreachable' : 'refused', `Tradier answered: ${joined(errors)}`)
  }
  return answer
}

/** The items of `{[outer]: {[inner]: […]}}`: a list of one is its only item, and an empty list may be the text "null". */
export function items(answer: Wire, outer: string, inner: string): readonly Wire[] {
  // An answer about something else is not an empty list.
  if (!Object.hasOwn(answer, outer)) throw new Malformed(outer, 'in the answer', Object.keys(answer))
  if (isNothing(field(answer, outer))) return []
  const holder = object(field(answer, outer), outer)
  if (!Object.hasOwn(holder, inner) && Object.keys(holder).length > 0) throw new Malformed(inner, `in ${outer}`, Object.keys(holder))
  return records(collapsed(holder, inner), inner)
}

/** The items of a field that is itself such a list. */
export function collapsed(wire: Wire, key: string): readonly unknown[] {
  const value = field(wire, key)
  if (isNothing(value)) return []
  if (!Array.isArray(value)) return [value]
  if (value.length > ITEMS_MAX) throw new Malformed(key, `a list of at most ${ITEMS_MAX}`, value.length)
  return value
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === 'null' || value === ''
}

/** With the digits as written. */
export const amount: (wire: Wire, key: string) => Decimal = decimal

export function amountOrNull(wire: Wire, key: string): Decimal | null {
  const value = field(wire, key)
  // The usual case of the hot path, checked once.
  if (isPlainDecimal(value)) return value
  return isNothing(value) ? null : amount(wire, key)
}

export function textOf(wire: Wire, key: string): string | null {
  return isNothing(field(wire, key)) ? null : text(wire, key)
}

export function displayTextOf(wire: Wire, key: string): string | null {
  return isNothing(field(wire, key)) ? null : displayTextOrNull(wire, key)
}

export function nestedOf(wire: Wire, key: string): Wire | null {
  return isNothing(field(wire, key)) ? null : object(field(wire, key), key)
}

/** A refusal. `other`: HTML, nothing, or JSON of an unknown form. */
export type Complaint =
  /** Of the gateway in front of the API: nothing behind it was reached, unless it says that this failed. */
  | { readonly form: 'fault'; readonly text: string; readonly code: string }
  /** Of the API or of what is behind it: each a sentence or a code. */
  | { readonly form: 'errors'; readonly errors: readonly string[] }
  | { readonly form: 'text'; readonly text: string }
  | { readonly form: 'other' }

export function complaintOf({ body }: Pick<HttpReply, 'body'>): Complaint {
  const trimmed = body.trim()
  if (!trimmed.startsWith('{')) {
    const isText = trimmed !== '' && trimmed.length <= TEXT_MAX && !trimmed.startsWith('<')
    return isText && Array.from(trimmed).every(character => character >= '\t') ? { form: 'text', text: trimmed } : { form: 'other' }
  }
  try {
    const answer = readObject(trimmed)
    const errors = errorsOf(answer)
    if (errors !== null) return { form: 'errors', errors }
    const fault = object(field(answer, 'fault'), 'fault')
    const detail = nestedOf(fault, 'detail')
    return {
      form: 'fault',
      text: displayTextOrNull(fault, 'faultstring') ?? '',
      code: (detail === null ? null : displayTextOrNull(detail, 'errorcode')) ?? ''
    }
  } catch {
    return { form: 'other' }
  }
}

/** What an answer has under `errors`, which may be a success otherwise; null when it has none. */
export function errorsOf(answer: Wire): readonly string[] | null {
  const errors = field(answer, 'errors')
  if (typeof errors !== 'object' || errors === null || Array.isArray(errors)) return null
  const found = collapsed(object(errors, 'errors'), 'error').filter(error => typeof error === 'string')
  return found.length === 0 ? null : found.map(error => error.slice(0, TEXT_MAX))
}

/** Sentences and codes as one text. */
export function joined(errors: readonly string[]): string {
  const parts = errors.length === 1 ? errors : errors.map(error => error.replace(/\.$/, ''))
  return parts.join('; ').slice(0, TEXT_MAX)
}

/** The display message of a refusal; empty when there is none fit for it. */
export function errorMessageOf(reply: Pick<HttpReply, 'body'>): string {
  const complaint = complaintOf(reply)
  return complaint.form === 'errors' ? joined(complaint.errors) : complaint.form === 'other' ? '' : complaint.text
}

/**
 * The gateway's answer that the access token is expired, revoked or of another environment. Its body decides: it came with status 500 as
 * well.
 */
export function isTokenRefused(reply: Pick<HttpReply, 'status' | 'body'>): boolean {
  const complaint = reply.status >= 400 ? complaintOf(reply) : null
  if (complaint?.form !== 'fault') return false
  // A failure of the server may mention the token: only its code says that the token was refused (recorded with 500).
  if (reply.status >= 500) return /access_token_expired|invalid_access_token/.test(complaint.code)
  return /access token/i.test(complaint.text) || /access_token/.test(complaint.code)
}

/** `401 Unauthorized Account: VA00000001`, to a login that is good: there is no such order, or it is another login's. */
export function isForeign(reply: Pick<HttpReply, 'status' | 'body'>): boolean {
  return reply.status === 401 && /unauthorized account/i.test(errorMessageOf(reply))
}

/** An end that is earlier than this is in seconds. */
const MILLISECONDS_FROM = 100_000_000_000

/** What Tradier reports with every answer as left of the minute. */
export function limitsOf(reply: HttpReply, nowMs: number): BrokerLimits | null {
  const inMs = (end: number) => (end < MILLISECONDS_FROM ? end * 1_000 : end) - nowMs
  return limitsIn(reply, ['x-ratelimit-available', 'x-ratelimit-expiry', 'x-ratelimit-allowed'], inMs)
}
