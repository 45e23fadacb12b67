/** Alpaca's error responses: `{"code", "message"}` and sometimes more. The code begins with an HTTP status that is not always the answer's. */
import { type Answer, Problem } from '../frame/brokerage.ts'

/** A refusal in Alpaca's own terms; `more` are the keys beside code and message. */
export class AlpacaProblem extends Problem {
  readonly number: number
  readonly more: Readonly<Record<string, string>>

  constructor(status: number, number: number, message: string, more: Readonly<Record<string, string>> = {}) {
    super('bad_request', message, { status })
    this.number = number
    this.more = more
  }
}

export const CODES = {
  unauthorized: 40110000,
  badParameter: 40010001,
  forbidden: 40310000,
  notFound: 40410000,
  invalid: 42210000,
  tooMany: 42910000
} as const

/** A field or a parameter that makes no sense. */
export function invalid(message: string): AlpacaProblem {
  return new AlpacaProblem(422, CODES.invalid, message)
}

export function badParameter(message: string): AlpacaProblem {
  return new AlpacaProblem(422, CODES.badParameter, message)
}

export function notFound(message: string): AlpacaProblem {
  return new AlpacaProblem(404, CODES.notFound, message)
}

interface ErrorShape {
  readonly status: number
  /** Null: the answer carries no code, as Alpaca's gateway answers. */
  readonly number: number | null
  readonly message?: string
}

const ERROR_SHAPES: Readonly<Record<string, ErrorShape>> = {
  bad_request: { status: 422, number: CODES.badParameter },
  too_large: { status: 413, number: 41310000 },
  token_missing: { status: 403, number: null, message: 'forbidden.' },
  token_invalid: { status: 401, number: CODES.unauthorized, message: 'request is not authorized' },
  scope_missing: { status: 403, number: CODES.unauthorized, message: 'token is not authorized for this scope' },
  unknown_route: { status: 404, number: CODES.notFound, message: 'endpoint not found.' },
  unknown_order: { status: 404, number: CODES.notFound, message: 'order not found' },
  order_forgotten: { status: 404, number: CODES.notFound, message: 'order not found' },
  slow_down: { status: 429, number: CODES.tooMany, message: 'rate limit exceeded' },
  internal_error: { status: 500, number: 50010000, message: 'internal server error occurred' },
  duplicate_client_order_id: { status: 422, number: CODES.badParameter, message: 'client_order_id must be unique' },
  insufficient_buying_power: { status: 403, number: CODES.forbidden, message: 'insufficient buying power' },
  insufficient_position: { status: 403, number: CODES.forbidden },
  short_sale_not_allowed: { status: 403, number: CODES.forbidden },
  instrument_not_permitted: { status: 403, number: CODES.forbidden },
  too_many_open_orders: { status: 403, number: CODES.forbidden },
  market_closed: { status: 403, number: CODES.forbidden },
  halted: { status: 403, number: CODES.forbidden },
  refused_by_operator: { status: 422, number: CODES.invalid }
}

const REFUSED: ErrorShape = { status: 422, number: CODES.invalid }

/** The error body. `code`: one that a fault names, shown where it is a number. */
export function problemAnswer(problem: Problem, code: string | null): Answer {
  const shape = ERROR_SHAPES[problem.code] ?? REFUSED
  const { status, number, more = {} } = problem instanceof AlpacaProblem ? problem : { ...shape, ...statusOf(problem, shape) }
  const named = code !== null && /^\d{1,9}$/.test(code) ? Number(code) : number
  const message = (problem instanceof AlpacaProblem ? undefined : shape.message) ?? problem.message
  const { retryAfter } = problem.detail
  return {
    status,
    headers: { ...JSON_TYPE, ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }) },
    text: JSON.stringify(named === null ? { message } : { code: named, message, ...more })
  }
}

/** Faults name a status of their own. */
function statusOf(
  { detail }: Problem,
  shape: ErrorShape
): Pick<ErrorShape, 'status' | 'number'> & { readonly more?: Readonly<Record<string, string>> } {
  if (detail.status === undefined || detail.status === shape.status) return shape
  return { status: detail.status, number: detail.status * 100_000 + 10_000 }
}

export const JSON_TYPE = { 'content-type': 'application/json; charset=UTF-8' }

export function jsonAnswer(body: unknown, status = 200): Answer {
  return { status, headers: JSON_TYPE, text: JSON.stringify(body) }
}

export const NO_CONTENT: Answer = { status: 204, headers: {}, text: '' }

/** The market data host answers 400 to what the trading host answers 422. */
export function dataProblemAnswer(problem: Problem, code: string | null): Answer {
  const answer = problemAnswer(problem, code)
  return answer.status === 422 ? { ...answer, status: 400 } : answer
}
