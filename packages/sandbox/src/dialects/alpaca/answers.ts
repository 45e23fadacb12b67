/**
 * Alpaca's answers, and how it reads requests. Errors are `{"code", "message"}`, and the code begins with an HTTP status that is not always
 * the answer's.
 */

import { shown } from '@trunkline/core/domain/malformed'
import { Body, type Reading } from '../frame/body.ts'
import { type Answer, microsOf, Problem } from '../frame/brokerage.ts'

/** A refusal in Alpaca's own terms. */
export class AlpacaProblem extends Problem {
  readonly number: number

  constructor(status: number, number: number, message: string) {
    super('bad_request', message, { status })
    this.number = number
  }
}

const UNAUTHORIZED = 40110000
const BAD_PARAMETER = 40010001
const NOT_FOUND = 40410000
const INVALID = 42210000

/** What is understood, and not taken. */
export function invalid(message: string): AlpacaProblem {
  return new AlpacaProblem(422, INVALID, message)
}

/** A field or a parameter that makes no sense. */
export function badParameter(message: string): AlpacaProblem {
  return new AlpacaProblem(422, BAD_PARAMETER, message)
}

export function notFound(what: string, name: string): AlpacaProblem {
  return new AlpacaProblem(404, NOT_FOUND, `${what} not found for ${name.slice(0, 64)}`)
}

const READING: Reading = {
  bad(name, _expected, found) {
    throw badParameter(name === '' ? 'request body format is invalid' : `invalid ${name}: ${shown(found)}`)
  },
  takesNumbers: true,
  ignoresCase: false
}

/** @throws AlpacaProblem, as all its readers do */
export function bodyOf(value: unknown): Body {
  return new Body(value, READING)
}

/** Null where there is none. @throws AlpacaProblem */
export function instantIn(body: Body, name: string): number | null {
  return body.readOr(name, 'must be an instant', microsOf)
}

/** The number is null where Alpaca's gateway answers, without a code. */
type Shape = readonly [status: number, number: number | null, message?: string | undefined]
const FORBIDDEN = [403, 40310000] as const
const NO_POSITION: Shape = [...FORBIDDEN, 'insufficient qty available for order']
const NO_ORDER: Shape = [404, NOT_FOUND, 'order not found']
const SHAPES: Readonly<Record<string, Shape>> = {
  bad_request: [422, BAD_PARAMETER],
  too_large: [413, 41310000],
  token_missing: [403, null, 'forbidden.'],
  token_invalid: [401, UNAUTHORIZED, 'request is not authorized'],
  scope_missing: [403, UNAUTHORIZED, 'token is not authorized for this scope'],
  unknown_route: [404, NOT_FOUND, 'endpoint not found.'],
  unknown_order: NO_ORDER,
  order_forgotten: NO_ORDER,
  slow_down: [429, 42910000, 'rate limit exceeded'],
  internal_error: [500, 50010000, 'internal server error occurred'],
  duplicate_client_order_id: [422, BAD_PARAMETER, 'client_order_id must be unique'],
  bad_tick: [422, INVALID, 'sub-penny increment does not fulfill minimum pricing criteria'],
  insufficient_buying_power: [...FORBIDDEN, 'insufficient buying power'],
  insufficient_position: NO_POSITION,
  short_sale_not_allowed: NO_POSITION,
  instrument_not_permitted: FORBIDDEN,
  too_many_open_orders: FORBIDDEN,
  market_closed: FORBIDDEN,
  halted: FORBIDDEN
}
const REFUSED: Shape = [422, INVALID]

/** The error body. `code`: one that a fault names, shown where it is a number. */
export function problemAnswer(problem: Problem, code: string | null): Answer {
  const [status, number, message] = shapeOf(problem)
  const named = code !== null && /^\d{1,9}$/.test(code) ? Number(code) : number
  const { retryAfter } = problem.detail
  const body = { ...(named === null ? {} : { code: named }), message: message ?? problem.message }
  const { headers, ...answer } = jsonAnswer(body, status)
  return { ...answer, headers: retryAfter === undefined ? headers : { ...headers, 'retry-after': String(retryAfter) } }
}

/** Faults name a status of their own. */
function shapeOf(problem: Problem): Shape {
  if (problem instanceof AlpacaProblem) return [problem.status, problem.number]
  const shape = SHAPES[problem.code] ?? REFUSED
  const { status = shape[0] } = problem.detail
  return status === shape[0] ? shape : [status, status * 100_000 + 10_000, shape[2]]
}

/** The market data host answers 400 to what the trading host answers 422. */
export function dataProblemAnswer(problem: Problem, code: string | null): Answer {
  const answer = problemAnswer(problem, code)
  return answer.status === 422 ? { ...answer, status: 400 } : answer
}

export function jsonAnswer(body: unknown, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/json; charset=UTF-8' }, text: JSON.stringify(body) }
}
