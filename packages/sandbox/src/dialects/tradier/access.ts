/** Access control: OAuth with one registered callback, tokens, scopes, and quotas by token and class. */

import type { FastifyRequest } from 'fastify'
import { isoOf, Problem } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Grants } from '../frame/grants.ts'
import type { OAuthDefinition } from '../frame/oauth.ts'
import { Quotas } from '../frame/quotas.ts'
import type { DialectProtocol } from '../frame/router.ts'
import { accountsOf, numberOf } from './account.ts'
import { EXPIRED, fault, json, problemAnswer } from './answers.ts'

export const BASE = '/tradier/v1'

/** What of Tradier's ways can be set, and how the sandbox sets it. */
export const DEFAULT_OPTIONS = {
  /** Requests of a token in a minute: a thousand times as many as at Tradier, so that tests and benches meet their own pace. */
  limits: { standard: 120_000, market: 120_000, trading: 60_000 },
  /** Chance in 256 that the first two events of a new order come as `open`, `pending`. */
  swapChance: 64,
  /** Chance in 256 that an order is `filled` before its price is known to REST, and for how many real milliseconds. */
  lateChance: 26,
  lateMs: 150
}
export type Options = typeof DEFAULT_OPTIONS

const ACCESS_TTL_S = 86_399

export function tradierOAuth(brokerage: BrokerageView): OAuthDefinition {
  const { realNow } = brokerage
  return {
    ...{ name: 'tradier', broker: 'Tradier', authorizePath: `${BASE}/oauth/authorize`, clientIn: 'basic', separator: ',' },
    accounts: ({ id }) => accountsOf(brokerage, id).map(account => ({ ...account, number: numberOf(account) })),
    scopes: { read: 'read', write: 'trade', trade: 'trade', market: 'read', stream: 'read' },
    unminted: ['write'],
    sendsRedirectUri: false,
    objection: ({ state }, names) => (state === undefined ? 'state is missing' : names.length === 0 ? 'scope is missing' : null),
    endpoints: { [`${BASE}/oauth/accesstoken`]: ['authorization_code'], [`${BASE}/oauth/refreshtoken`]: ['refresh_token'] },
    accessTtlS: ACCESS_TTL_S,
    refreshes: () => true,
    granted: ({ access, livesS, scope, refresh }) => {
      const issued_at = isoOf(realNow() * 1_000)
      return json({ access_token: access, expires_in: livesS, issued_at, scope, status: 'approved', refresh_token: refresh })
    },
    refusals: {
      client: () => fault(401, 'Invalid client identifier', 'oauth.v2.InvalidClientIdentifier'),
      grantType: ({ grant_type: type = '' }) =>
        fault(400, `Unsupported grant type : ${type.slice(0, 40)}`, 'oauth.v2.UnsupportedGrantType'),
      code: () => fault(400, 'Invalid Authorization Code', 'keymanagement.service.invalid_request-authorization_code_invalid'),
      refreshToken: () => fault(401, 'Invalid Refresh Token', 'keymanagement.service.invalid_refresh_token')
    },
    problem: problemAnswer
  }
}

export function tradierProtocol({ realNow }: BrokerageView, grants: Grants, limits: Options['limits']): DialectProtocol {
  const quotas = new Quotas(realNow)
  const quotaOf = (request: FastifyRequest, token: string) => {
    const { kind } = classOf(request)
    return { key: `${kind} ${token}`, limit: limits[kind], periodMs: 60_000 }
  }
  return {
    admit: request => {
      const token = tokenOf(request)
      const pass = grants.pass(token)
      if (pass === undefined) throw new Problem('token_invalid', grants.isExpired(token) ? EXPIRED : 'nobody knows this token')
      if (!quotas.take(quotaOf(request, token))) throw new Problem('slow_down', 'too many requests')
      const { scope } = classOf(request)
      // Tradier answers 401 for a missing scope as for an invalid token.
      if (!pass.scopes.has(scope)) throw new Problem('scope_missing', `Unauthorized: the scope ${scope} is missing`, { status: 401 })
      return pass
    },
    headers: request => {
      const token = tokenOf(request)
      if (grants.pass(token) === undefined) return {}
      const quota = quotaOf(request, token)
      const { used, remaining, endsAt } = quotas.state(quota)
      const figures = { allowed: quota.limit, used, available: remaining, expiry: endsAt }
      return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`x-ratelimit-${name}`, String(value)]))
    },
    problem: problemAnswer,
    created: 200
  }
}

function tokenOf({ headers }: FastifyRequest): string {
  return /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
}

/** What Tradier counts a request as, and the scope it takes. */
function classOf({ method, routeOptions: { url = '' } }: FastifyRequest): {
  readonly kind: keyof Options['limits']
  readonly scope: string
} {
  const isMarket = url.startsWith(`${BASE}/markets`)
  const kind = isMarket ? 'market' : method !== 'GET' && url.includes('/orders') ? 'trading' : 'standard'
  if (url.endsWith('/events/session')) return { kind, scope: 'stream' }
  return { kind, scope: isMarket ? 'market' : kind === 'trading' ? 'trade' : 'read' }
}
