/** Access control and TradeStation's error responses: `{"Error","Message"}`, or for orders a refusal inside an answer of 200. */

import type { FastifyRequest } from 'fastify'
import { type Answer, type Pass, Problem } from '../frame/brokerage.ts'
import type { Grants } from '../frame/grants.ts'
import type { DialectProtocol } from '../frame/router.ts'
import { type Meter, type Metered, quotaHeaders } from './meter.ts'
import { quotaOf, scopeOf } from './resources.ts'

const NAMES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  501: 'NotImplemented',
  503: 'ServiceUnavailable',
  504: 'GatewayTimeout'
}

/** The sandbox's statuses that TradeStation does not have. */
const STATUSES: Readonly<Record<number, number>> = { 404: 404, 409: 400, 410: 404, 413: 400, 415: 400, 422: 400 }

/** How refusals of orders look: inside an answer of 200 to a new order, as an answer of 400 to a change of one. */
export type Refusals = 'read' | 'place' | 'change'

/** A request that was admitted, with what is left of its quota. */
export class Access {
  readonly #grants: Grants
  readonly #meter: Meter
  readonly #metered = new WeakMap<FastifyRequest, Metered>()

  constructor(grants: Grants, meter: Meter) {
    this.#grants = grants
    this.#meter = meter
  }

  /** @throws Problem */
  admit(request: FastifyRequest): Pass {
    const path = request.routeOptions.url ?? ''
    const [, token = ''] = /^Bearer ([\w~+/.=-]{1,4096})$/i.exec(request.headers.authorization ?? '') ?? []
    const pass = this.#grants.pass(token)
    if (pass === undefined) throw new Problem('token_invalid', 'Access token is invalid or expired')
    if (!pass.scopes.has(scopeOf(path)))
      throw new Problem('scope_missing', `The access token was granted without the scope ${scopeOf(path)}`)
    const quota = quotaOf(path)
    if (quota === null) return pass
    const metered = this.#meter.use(pass.login, quota)
    this.#metered.set(request, metered)
    if (metered.isOver) throw new Problem('slow_down', 'Rate quota exceeded', { retryAfter: metered.resetS })
    return pass
  }

  headers(request: FastifyRequest): Readonly<Record<string, string>> {
    const metered = this.#metered.get(request)
    return metered === undefined ? {} : quotaHeaders(metered)
  }

  protocol(refusals: Refusals): DialectProtocol {
    return {
      admit: request => this.admit(request),
      headers: request => this.headers(request),
      problem: (problem, code) => shown(problem, code, refusals),
      created: 200
    }
  }
}

export function json(body: object, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, text: JSON.stringify(body) }
}

export function shown(problem: Problem, code: string | null, refusals: Refusals): Answer {
  const { message, detail } = problem
  if (refusals !== 'read' && problem.status === 422) return refused(message, orderIdOf(problem), refusals)
  const status = STATUSES[problem.status] ?? problem.status
  const error = code ?? NAMES[status] ?? (status < 500 ? 'BadRequest' : 'InternalServerError')
  const answer = json({ Error: error, Message: message }, status)
  if (detail.retryAfter === undefined) return answer
  return { ...answer, headers: { ...answer.headers, 'X-RateLimit-Reset': String(detail.retryAfter) } }
}

/** An order or a change that was understood and refused. `orderId` null: no order exists. */
export function refused(message: string, orderId: string | null, refusals: Exclude<Refusals, 'read'>): Answer {
  const refusal = { Error: 'FAILED', Message: message, ...(orderId === null ? {} : { OrderID: orderId }) }
  if (refusals === 'change') return json(refusal, 400)
  return json({ Orders: [], Errors: [{ ...refusal, Message: `Order failed. Reason: ${message}` }] })
}

function orderIdOf({ detail }: Problem): string | null {
  const { order } = detail
  const id: unknown = typeof order === 'object' && order !== null ? Reflect.get(order, 'OrderID') : undefined
  return typeof id === 'string' ? id : null
}
