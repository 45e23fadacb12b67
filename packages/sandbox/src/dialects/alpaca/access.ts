/** Access control: OAuth tokens and API keys, scopes, and rate limits. */

import type { FastifyRequest } from 'fastify'
import { type Pass, Problem } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Grants } from '../frame/grants.ts'
import { Keys } from './keys.ts'
import { type Left, Limiter } from './limiter.ts'
import { Limits } from './limits.ts'

/** The two hosts: what either wants to know of a token, and what it counts. */
export const HOSTS = ['api', 'data'] as const
export type Host = (typeof HOSTS)[number]

/** Crypto prices are public. */
const OPEN = '/alpaca/data/v1beta3/crypto/'
const OPEN_SCOPES = new Set(['data'])

/** The credentials of a request or a stream. */
export interface Presented {
  readonly keyId: string
  readonly secret: string
}

export class Access {
  readonly grants: Grants
  readonly keys: Keys
  readonly limits = new Limits()
  readonly limiters: Readonly<Record<Host, Limiter>>
  readonly #brokerage: BrokerageView
  /** Who makes a request, those refused for their number included. */
  readonly #asking = new WeakMap<FastifyRequest, string>()

  constructor(brokerage: BrokerageView, grants: Grants) {
    const { realNow: now } = brokerage
    this.#brokerage = brokerage
    this.grants = grants
    this.keys = new Keys(brokerage.seed, brokerage.customers, brokerage.inFolder('alpaca-keys.jsonl'))
    this.limiters = { api: new Limiter(this.limits, now), data: new Limiter(this.limits, now) }
  }

  /** @throws Problem */
  admit(request: FastifyRequest, host: Host): Pass {
    const pass = this.#passOf(request, host === 'data' && request.url.startsWith(OPEN))
    this.#asking.set(request, pass.login)
    if (!this.limiters[host].take(pass.login)) {
      const retryAfter = Math.max(1, this.limiters[host].left(pass.login).resetS - Math.floor(this.#brokerage.realNow() / 1000))
      throw new Problem('slow_down', 'rate limit exceeded', { retryAfter })
    }
    const scope = host === 'data' ? 'data' : request.method === 'GET' ? null : 'trading'
    if (scope !== null && !pass.scopes.has(scope)) throw new Problem('scope_missing', `this needs the scope ${scope}`)
    return pass
  }

  /** The remaining rate limit of a request; null: unauthenticated. */
  left(request: FastifyRequest, host: Host): Left | null {
    const login = this.#asking.get(request)
    return login === undefined ? null : this.limiters[host].left(login)
  }

  /** The pass of a token. */
  ofToken(token: string): Pass | undefined {
    return this.grants.pass(token)
  }

  /** As streams receive it: a pair of keys, or `oauth` and a token. */
  ofPair({ keyId, secret }: Presented): Pass | undefined {
    return keyId === 'oauth' ? this.ofToken(secret) : this.keys.pass(keyId, secret)
  }

  /** What the headers of a request present; null: nothing. */
  ofHeaders(headers: Readonly<Record<string, string | readonly string[] | undefined>>): Pass | undefined | null {
    const { authorization, 'apca-api-key-id': keyId, 'apca-api-secret-key': secret } = headers
    if (typeof keyId === 'string' && typeof secret === 'string') return this.keys.pass(keyId, secret)
    const [, token] = typeof authorization === 'string' ? (/^Bearer ([\x21-\x7e]+)$/i.exec(authorization) ?? []) : []
    return token === undefined ? null : this.ofToken(token)
  }

  /** @returns grants touched */
  endLogin(login: string, refreshOnly: boolean): { readonly count: number; readonly key: string | null } {
    // There are no refresh tokens here: anyone who is to lose them loses nothing.
    if (refreshOnly) return { count: 0, key: null }
    return { count: this.grants.endLogin(login, false), key: this.keys.revoke(login) }
  }

  close(): void {
    this.grants.close()
    this.keys.close()
  }

  #passOf(request: FastifyRequest, isOpen: boolean): Pass {
    const pass = this.ofHeaders(request.headers)
    const [anybody] = this.#brokerage.customers.all()
    // Crypto prices are public: an unauthenticated request counts as one of the sandbox's first customer.
    if (pass === null && isOpen && anybody !== undefined)
      return { login: anybody.id, client: 'nobody', scopes: OPEN_SCOPES, grant: 'none', expiresAt: Number.MAX_SAFE_INTEGER }
    if (pass === null) throw new Problem('token_missing', 'forbidden.')
    if (pass === undefined) throw new Problem('token_invalid', 'request is not authorized')
    return pass
  }
}
