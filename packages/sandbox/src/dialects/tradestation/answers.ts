/** TradeStation's answers, and how it reads requests. Errors are `{"Error","Message"}`; refusals of orders are inside an answer of 200. */

import { shown } from '@trunkline/core/domain/malformed'
import { Body, type Reading } from '../frame/body.ts'
import { type Answer, type Micros, Problem } from '../frame/brokerage.ts'
import { digitsOf } from '../frame/order-ids.ts'

const READING: Reading = {
  bad: (name, expected, found) => bad(`${name === '' ? 'The request' : name} ${expected}, was ${shown(found)}`),
  takesNumbers: false,
  ignoresCase: true
}

/** @throws Problem `bad_request`, as all its readers do */
export function bodyOf(value: unknown): Body {
  return new Body(value, READING)
}

export function bad(message: string): never {
  throw new Problem('bad_request', message)
}

/** The texts between commas of a part of the path, each once. `what`: they are, in the plural. @throws Problem `bad_request` */
export function listIn(text: string | undefined, most: number, what: string): readonly string[] {
  const listed = [...new Set(text?.split(',').filter(one => one !== ''))]
  return listed.length === 0 || listed.length > most ? bad(`1 to ${most} ${what} can be specified, comma separated`) : listed
}

/** For what can be read and is not taken. */
export function refuse(message: string): never {
  throw new Problem('refused_by_operator', message)
}

export function json(body: object, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, text: JSON.stringify(body) }
}

const NAMES: Readonly<Record<number, string>> = {
  ...{ 400: 'BadRequest', 401: 'Unauthorized', 403: 'Forbidden', 404: 'NotFound', 429: 'TooManyRequests' },
  ...{ 500: 'InternalServerError', 501: 'NotImplemented', 503: 'ServiceUnavailable', 504: 'GatewayTimeout' }
}
/** The sandbox's statuses that TradeStation does not have. */
const STATUSES: Readonly<Record<number, number>> = { 409: 400, 410: 404, 413: 400, 415: 400, 422: 400 }

/** How refusals of orders look: inside an answer of 200 to a new order, as an answer of 400 to a change of one. */
export type Refusals = 'read' | 'place' | 'change'

/** The error body. `code`: one that a fault names. */
export function problemAnswer(problem: Problem, code: string | null, refusals: Refusals = 'read'): Answer {
  const { message, detail } = problem
  if (refusals !== 'read' && problem.status === 422) return refused(problem, refusals)
  const status = STATUSES[problem.status] ?? problem.status
  const error = code ?? NAMES[status] ?? (status < 500 ? 'BadRequest' : 'InternalServerError')
  const answer = json({ Error: error, Message: message }, status)
  if (detail.retryAfter === undefined) return answer
  return { ...answer, headers: { ...answer.headers, 'X-RateLimit-Reset': String(detail.retryAfter) } }
}

/** An order or a change that was understood and refused. With an id where the order was recorded as rejected. */
export function refused({ message, detail: { order } }: Problem, refusals: Exclude<Refusals, 'read'>, changed?: string): Answer {
  const id: unknown = typeof order === 'object' && order !== null ? Reflect.get(order, 'id') : undefined
  const orderId = changed ?? (typeof id === 'string' ? digitsOf(id) : undefined)
  if (refusals === 'change') return json({ Error: 'FAILED', Message: message, OrderID: orderId }, 400)
  return json({ Orders: [], Errors: [{ Error: 'FAILED', Message: `Order failed. Reason: ${message}`, OrderID: orderId }] })
}

/** RFC 3339 in UTC, whole seconds. */
export function timeOf(at: Micros): string {
  return `${new Date(Math.floor(at / 1_000)).toISOString().slice(0, 19)}Z`
}
