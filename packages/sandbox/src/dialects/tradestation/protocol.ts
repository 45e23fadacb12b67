/** Access control and TradeStation's error responses: `{"Error","Message"}`, or for orders a refusal inside an answer of 200. */

import type { FastifyRequest } from 'fastify'
import { type Answer, type Pass, Problem } from '../frame/brokerage.ts'
import type { Grants } from '../frame/grants.ts'
import type { Quotas } from '../frame/quotas.ts'
import type { DialectProtocol } from '../frame/router.ts'
import { type Modes, shareOf } from './options.ts'
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

export interface AccessDeps {
  readonly grants: Grants
  readonly quotas: Quotas
  readonly modes: Modes
  /** Real time in milliseconds. */
  readonly now: () => number
}

/** A request that was admitted, with what is left of its quota. */
export class Access {
  readonly #deps: AccessDeps
  readonly #headers = new WeakMap<FastifyRequest, Readonly<Record<string, string>>>()

  constructor(deps: AccessDeps) {
    this.#deps = deps
  }

  /** @throws Problem */
  admit(request: FastifyRequest): Pass {
    const path = request.routeOptions.url ?? ''
    const [, token = ''] = /^Bearer ([\w~+/.=-]{1,4096})$/i.exec(request.headers.authorization ?? '') ?? []
    const pass = this.#deps.grants.pass(token)
    if (pass === undefined) throw new Problem('token_invalid', 'Access token is invalid or expired')
    if (!pass.scopes.has(scopeOf(path)))
      throw new Problem('scope_missing', `The access token was granted without the scope ${scopeOf(path)}`)
    this.#count(request, pass.login)
    return pass
  }

  headers(request: FastifyRequest): Readonly<Record<string, string>> {
    return this.#headers.get(request) ?? {}
  }

  /** Counts a request by login and resource. @throws Problem beyond the quota */
  #count(request: FastifyRequest, login: string): void {
    const { quotas, modes, now } = this.#deps
    const published = quotaOf(request.routeOptions.url ?? '')
    if (published === null) return
    const { resource, periodS } = published
    const quota = { key: `${login} ${resource}`, limit: shareOf(published.limit, modes.now.quotaPercent), periodMs: periodS * 1_000 }
    const isTaken = quotas.take(quota)
    const { remaining, endsAt } = quotas.state(quota)
    const resetS = Math.max(1, Math.ceil((endsAt - now()) / 1_000))
    this.#headers.set(request, {
      'X-RateLimit-Limit': String(quota.limit),
      'X-RateLimit-Period': String(periodS),
      'X-RateLimit-Remaining': String(remaining),
      'X-RateLimit-Reset': String(resetS),
      'X-RateLimit-Resource': resource
    })
    if (!isTaken) throw new Problem('slow_down', 'Rate quota exceeded', { retryAfter: resetS })
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
