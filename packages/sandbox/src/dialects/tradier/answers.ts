/** Answers as Tradier makes them: JSON that was converted from XML, and errors in four forms; and how it reads queries and forms. */

import { shown } from '@trunkline/core/domain/malformed'
import type { FastifyRequest } from 'fastify'
import { Body, type Reading } from '../frame/body.ts'
import { type Answer, isoOf, type Micros, Problem } from '../frame/brokerage.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'

declare global {
  interface JSON {
    /** A number exactly as it is to be written, zeros at its end included. */
    rawJSON(text: string): object
  }
}

export function route(
  method: DialectRoute['method'],
  path: string,
  operation: DialectRoute['operation'],
  handle: (call: Call) => object | Promise<object>,
  about: DialectRoute['about'] = undefined
): DialectRoute {
  const answering = async (call: Call) => answer(call.request, await handle(call))
  return { method, path, operation, handle: answering, ...(about === undefined ? {} : { about }) }
}

const READING: Reading = {
  bad: (name, expected, found) => bad(name, found === undefined ? expected : `${expected}, was ${shown(found)}`),
  takesNumbers: false,
  ignoresCase: false
}

/** A query or a form. @throws Problem that is answered as text, as all its readers do */
export function fieldsOf(value: unknown): Body {
  return new Body(texts(value), READING)
}

export function bad(name: string, what: string): never {
  throw new Problem('bad_request', `Invalid parameter, ${name}: ${what}.`)
}

/** Quantities and prices of orders and positions: eight places at least. */
export function figure(text: string | null, places = 8): object {
  const [whole = '0', fraction = ''] = (text ?? '0').split('.')
  return JSON.rawJSON(`${whole}.${fraction.padEnd(places, '0')}`)
}

export function plain(text: string | null | undefined): object | null {
  return text === null || text === undefined ? null : JSON.rawJSON(text)
}

/** `{root: {name: […]}}`; nothing by fault injection. `empty`: what stands for an empty list. */
export function listed(call: Call, root: string, name: string, items: readonly (object | string)[], empty: string | null = null): object {
  return { [root]: items.length === 0 || call.fault?.do === 'empty' ? empty : { [name]: items } }
}

/** `2026-11-03T14:31:05.120Z`. */
export function timeOf(at: Micros): string {
  return `${isoOf(at).slice(0, 23)}Z`
}

/** XML unless JSON is requested. The XML is empty: it shows a client that it must request JSON. */
function answer({ headers: { accept = '' } }: FastifyRequest, tree: object): Answer {
  if (accept.includes('application/json')) return json(tree)
  return { status: 200, headers: typed('application/xml'), text: `<?xml version="1.0" encoding="UTF-8"?><${Object.keys(tree)[0]}/>` }
}

/** A list of one is its only item. */
export function json(tree: object, status = 200): Answer {
  const collapsed = (_name: string, value: unknown) => (Array.isArray(value) && value.length === 1 ? value[0] : value)
  return { status, headers: typed('application/json; charset=utf-8'), text: JSON.stringify(tree, collapsed) }
}

/** What is refused behind the API: a success, with `errors`. */
export function errors(...error: readonly string[]): object {
  return { errors: { error } }
}

/** The gateway's. */
export function fault(status: number, faultstring: string, errorcode: string, headers: Answer['headers'] = {}): Answer {
  const answer = json({ fault: { faultstring, detail: { errorcode } } }, status)
  return { ...answer, headers: { ...answer.headers, ...headers } }
}

/** The message for an access token that was valid once. */
export const EXPIRED = 'expired'

/** The sandbox's no in Tradier's terms; `code` as a fault of the control API names it. What the API itself refuses comes as text. */
export function problemAnswer({ code: cause, status, message, detail }: Problem, code: string | null): Answer {
  const isExpired = code === EXPIRED || message === EXPIRED
  const { retryAfter } = detail
  switch (cause) {
    case 'token_missing':
    case 'token_invalid':
      return isExpired
        ? fault(status, 'Access Token expired', 'keymanagement.service.access_token_expired')
        : fault(status, 'Invalid Access Token', 'keymanagement.service.invalid_access_token')
    case 'slow_down': {
      const headers: Answer['headers'] = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
      return fault(status, 'Rate limit quota violation. Quota limit exceeded.', 'policies.ratelimit.QuotaViolation', headers)
    }
    case 'internal_error':
      return fault(status, 'Datastore Error', 'datastore.ErrorWhileGettingConnection')
    default:
      // A fault that refuses an order: as orders are refused here, unless it names a status.
      return status === 422 && (cause === 'refused_by_operator' || cause === code)
        ? json(code === null ? errors(message) : errors(message, code))
        : { status, headers: typed('text/plain; charset=utf-8'), text: message }
  }
}

function typed(type: string): Answer['headers'] {
  return { 'content-type': type, 'cache-control': 'no-store' }
}
