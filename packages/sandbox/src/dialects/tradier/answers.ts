/** Answers in Tradier's shapes: JSON only on request, and its four kinds of error. */

import type { FastifyRequest } from 'fastify'
import type { Answer, Problem } from '../frame/brokerage.ts'
import { type Branch, json, type Tree } from './tree.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** XML unless JSON is requested. The XML is empty: it shows a client that it must request JSON. */
export function answer({ headers: { accept = '' } }: FastifyRequest, tree: Branch, status = 200): Answer {
  if (accept.includes('application/json')) return jsonAnswer(status, tree)
  return { status, headers: typed('application/xml'), text: `<?xml version="1.0" encoding="UTF-8"?><${Object.keys(tree)[0]}/>` }
}

export function jsonAnswer(status: number, tree: Tree): Answer {
  return { status, headers: typed(JSON_TYPE), text: json(tree) }
}

/** What the API itself refuses comes as text, whatever was requested. */
export function textAnswer(status: number, text: string): Answer {
  return { status, headers: typed('text/plain; charset=utf-8'), text }
}

/** What is refused behind the API: a success, with `errors`. */
export function errorsAnswer(request: FastifyRequest, errors: readonly string[]): Answer {
  return answer(request, { errors: { error: errors } })
}

/** The gateway's. */
export function faultAnswer(status: number, words: string, code: string, headers: Answer['headers'] = {}): Answer {
  const { text } = jsonAnswer(status, { fault: { faultstring: words, detail: { errorcode: code } } })
  return { status, headers: { ...typed('application/json'), ...headers }, text }
}

/** The message for an access token that was valid once. */
export const EXPIRED = 'expired'

/** The sandbox's no in Tradier's terms; `code` as a fault of the control API names it. */
export function problemAnswer(problem: Problem, code: string | null): Answer {
  const { status, message, detail } = problem
  switch (problem.code) {
    case 'token_missing':
    case 'token_invalid':
      return tokenRefused(status, code === EXPIRED || message === EXPIRED)
    case 'slow_down': {
      const headers = detail.retryAfter === undefined ? {} : { 'retry-after': String(detail.retryAfter) }
      return faultAnswer(status, 'Rate limit quota violation. Quota limit exceeded.', 'policies.ratelimit.QuotaViolation', headers)
    }
    case 'internal_error':
      return faultAnswer(status, 'Datastore Error', 'datastore.ErrorWhileGettingConnection')
    default:
      return isRefusal(problem, code) ? refusal(message, code) : textAnswer(status, message)
  }
}

/** A fault that refuses an order: as orders are refused here, unless it names a status. */
function isRefusal(problem: Problem, code: string | null): boolean {
  return (problem.code === 'refused_by_operator' || problem.code === code) && problem.status === 422
}

function refusal(message: string, code: string | null): Answer {
  return jsonAnswer(200, { errors: { error: code === null ? [message] : [message, code] } })
}

function tokenRefused(status: number, isExpired: boolean): Answer {
  return isExpired
    ? faultAnswer(status, 'Access Token expired', 'keymanagement.service.access_token_expired')
    : faultAnswer(status, 'Invalid Access Token', 'keymanagement.service.invalid_access_token')
}

function typed(type: string): Answer['headers'] {
  return { 'content-type': type, 'cache-control': 'no-store' }
}
