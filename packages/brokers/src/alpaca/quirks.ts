/** What only Alpaca does: one form of error whose status and code mean many things. Pure; readers throw only Malformed. */

import { Malformed } from '@trunkline/core/domain/malformed'
import { type HttpReply, limitsIn } from '../kit/http.ts'
import { jsonWithNumbersAsText, readObject } from '../kit/json.ts'
import { displayTextOrNull, field, records, type Wire } from '../kit/parse.ts'
import type { BrokerLimits } from '../kit/rate-limiter.ts'

/** Its two hosts, each with a rate limit. */
export type Resource = 'trading' | 'data'

/** An answer that is one record. Amounts are text at Alpaca, and where one is a JSON number it is read as it was written. */
export function readRecord({ body }: Pick<HttpReply, 'body'>): Wire {
  return readObject(body)
}

/** An answer that is a list of records, without anything around it. */
export function readList({ body }: Pick<HttpReply, 'body'>): readonly Wire[] {
  return records(jsonWithNumbersAsText(body), 'answer')
}

/** An error from Alpaca itself, distinguished from a gateway's by its shape. Some have no code. */
export interface AlpacaError {
  readonly code: string | null
  readonly message: string
}

/** @throws Malformed */
export function readError(reply: Pick<HttpReply, 'body'>): AlpacaError {
  const wire = readRecord(reply)
  const message = displayTextOrNull(wire, 'message')
  if (message === null) throw new Malformed('message', 'words', field(wire, 'message'))
  return { code: displayTextOrNull(wire, 'code', 32), message }
}

/** Alpaca's display message of an error; empty when the error is not from Alpaca. */
export function errorMessageOf(reply: HttpReply): string {
  return errorOf(reply)?.message ?? ''
}

/**
 * Whether an answer to a look-up says that there is no such order. An address that is gone for a while has the same status and code
 * (reported 2020-11), and a gateway's 404 may have a message as well: only the words prove what is missing.
 */
export function isNotFound(reply: HttpReply): boolean {
  return reply.status === 404 && /\border\b.*(?:not found|not exist)/i.test(errorMessageOf(reply))
}

/** An id that is none at all is refused before it is looked for. */
export function isInvalidOrderId(reply: HttpReply): boolean {
  return reply.status === 422 && /order.?id/i.test(errorMessageOf(reply))
}

/** Whether an answer about a symbol says that there is none of it, or that it cannot be one. */
export function isUnknownInstrument(reply: HttpReply): boolean {
  return reply.status !== 429 && errorOf(reply) !== null
}

/**
 * Whether the credentials are not (or no longer) good at this host. A missing scope is no matter of the credentials' worth, and a 403 with
 * a code is a refusal of the request.
 */
export function isUnauthorized(reply: HttpReply): boolean {
  if (reply.status !== 401 && reply.status !== 403) return false
  const error = errorOf(reply)
  if (error === null) return reply.status === 401
  if (/scope/i.test(error.message)) return false
  return reply.status === 401 || (error.code === null && /^forbidden/i.test(error.message))
}

function errorOf(reply: HttpReply): AlpacaError | null {
  try {
    return readError(reply)
  } catch {
    return null
  }
}

export function limitsOf(reply: HttpReply, nowMs: number): BrokerLimits | null {
  // The reset is in seconds since the epoch.
  return limitsIn(reply, ['x-ratelimit-remaining', 'x-ratelimit-reset', 'x-ratelimit-limit'], reset => reset * 1_000 - nowMs)
}
