/** Access control: tokens, scopes, rate limits and their headers. */

import type { FastifyRequest } from 'fastify'
import { type Answer, type Pass, Problem } from '../frame/brokerage.ts'
import type { Grants } from '../frame/grants.ts'
import type { Quota, Quotas } from '../frame/quotas.ts'
import type { DialectProtocol } from '../frame/router.ts'
import { EXPIRED, problemAnswer } from './answers.ts'
import type { RequestClass, TradierOptions } from './options.ts'

export const BASE = '/tradier/v1'

export interface ProtocolDeps {
  readonly grants: Grants
  readonly quotas: Quotas
  readonly limits: TradierOptions['limits']
}

const MINUTE_MS = 60_000

export function tradierProtocol({ grants, quotas, limits }: ProtocolDeps): DialectProtocol {
  /** Counted by token and class. */
  function quotaOf(token: string, request: FastifyRequest): Quota {
    const kind = classOf(request)
    return { key: `${kind} ${token}`, limit: limits[kind], periodMs: MINUTE_MS }
  }

  function admit(request: FastifyRequest): Pass {
    const token = tokenOf(request)
    if (token === null) throw new Problem('token_missing', 'a bearer token is due')
    const pass = grants.pass(token)
    if (pass === undefined) throw new Problem('token_invalid', grants.isExpired(token) ? EXPIRED : 'nobody knows this token')
    if (!quotas.take(quotaOf(token, request))) throw new Problem('slow_down', 'too many requests')
    const scope = scopeOf(request)
    // Tradier answers 401 for a missing scope as for an invalid token.
    if (!pass.scopes.has(scope)) throw new Problem('scope_missing', `Unauthorized: the scope ${scope} is missing`, { status: 401 })
    return pass
  }

  function headers(request: FastifyRequest, pass: Pass | null): Answer['headers'] {
    const token = tokenOf(request)
    if (token === null || (pass === null && grants.pass(token) === undefined)) return {}
    const quota = quotaOf(token, request)
    const { used, remaining, endsAt } = quotas.state(quota)
    return {
      'x-ratelimit-allowed': String(quota.limit),
      'x-ratelimit-used': String(used),
      'x-ratelimit-available': String(remaining),
      'x-ratelimit-expiry': String(endsAt)
    }
  }

  return { admit, headers, problem: problemAnswer, created: 200 }
}

function tokenOf(request: FastifyRequest): string | null {
  return /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null
}

function pathOf(request: FastifyRequest): string {
  return (request.url.split('?', 1)[0] ?? '').slice(BASE.length)
}

function classOf(request: FastifyRequest): RequestClass {
  const path = pathOf(request)
  if (path.startsWith('/markets')) return 'market'
  return request.method !== 'GET' && /^\/accounts\/[^/]+\/orders/.test(path) ? 'trading' : 'standard'
}

function scopeOf(request: FastifyRequest): string {
  const path = pathOf(request)
  if (path.endsWith('/events/session')) return 'stream'
  const kind = classOf(request)
  if (kind === 'market') return 'market'
  return kind === 'trading' ? 'trade' : 'read'
}
