/** Access control: OAuth tokens and API keys, scopes, and rate limits. */

import { createHmac } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { type Answer, type Customer, Fields, type Pass, Problem } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Grants } from '../frame/grants.ts'
import { isSame } from '../frame/oauth.ts'
import { type Quota, Quotas } from '../frame/quotas.ts'

/** The two hosts: what either wants to know of a token, and what it counts. */
export type Host = 'api' | 'data'

/** What the sandbox's limits are changed by, and how: by default they are wide, so that they hinder no test. Alpaca: 200, 1 and 30. */
const WIDE = {
  /** On either host. */
  requests_per_minute: 60_000,
  /** Clients of one login on one endpoint of market data. */
  connections_per_stream: 20,
  /** Symbols of trades and quotes together on one stream. */
  symbols_per_stream: 10_000
}
const LIMIT_MAX = 10_000_000

/** Crypto prices are public. */
const OPEN = '/alpaca/data/v1beta3/crypto/'

interface KeyPair {
  readonly keyId: string
  readonly secret: string
}

export class Access {
  readonly #grants: Grants
  readonly #brokerage: BrokerageView
  readonly #quotas: Quotas
  readonly #pairs = new Map<string, KeyPair>()
  /** How often the keys of a login were revoked. */
  readonly #revoked = new Map<string, number>()
  /** What each request is counted by, those refused for their number included. */
  readonly #counted = new WeakMap<FastifyRequest, Quota>()
  /** Set by the control API. */
  limits = WIDE

  constructor(brokerage: BrokerageView, grants: Grants) {
    this.#brokerage = brokerage
    this.#grants = grants
    this.#quotas = new Quotas(brokerage.realNow)
  }

  /** @throws Problem `bad_request` */
  setLimits(body: unknown): void {
    const fields = new Fields(body, Object.keys(WIDE))
    const read = (name: keyof typeof WIDE) => fields.countOr(name, 1, LIMIT_MAX) ?? this.limits[name]
    this.limits = {
      requests_per_minute: read('requests_per_minute'),
      connections_per_stream: read('connections_per_stream'),
      symbols_per_stream: read('symbols_per_stream')
    }
  }

  reset(): void {
    this.limits = WIDE
  }

  /** @throws Problem */
  admit(request: FastifyRequest, host: Host): Pass {
    const pass = this.#passOf(request)
    const quota = { key: `${host} ${pass.login}`, limit: this.limits.requests_per_minute, periodMs: 60_000 }
    this.#counted.set(request, quota)
    if (!this.#quotas.take(quota)) {
      const retryAfter = Math.ceil((this.#quotas.state(quota).endsAt - this.#brokerage.realNow()) / 1000)
      throw new Problem('slow_down', 'rate limit exceeded', { retryAfter })
    }
    const scope = host === 'data' ? 'data' : request.method === 'GET' ? null : 'trading'
    if (scope !== null && !pass.scopes.has(scope)) throw new Problem('scope_missing', `this needs the scope ${scope}`)
    return pass
  }

  /** What is left of the rate limit. */
  headers(request: FastifyRequest): Answer['headers'] {
    const quota = this.#counted.get(request)
    if (quota === undefined) return {}
    const { remaining, endsAt } = this.#quotas.state(quota)
    return {
      'x-ratelimit-limit': String(quota.limit),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-reset': String(Math.ceil(endsAt / 1000))
    }
  }

  /** As streams receive it: a pair of keys, or `oauth` and a token. Undefined for what is neither. */
  ofPair(keyId: unknown, secret: unknown): Pass | undefined {
    if (typeof keyId !== 'string' || typeof secret !== 'string') return undefined
    if (keyId === 'oauth') return this.#grants.pass(secret)
    const customer = this.#brokerage.customers.all().find(one => this.pairOf(one).keyId === keyId)
    return customer !== undefined && isSame(this.pairOf(customer).secret, secret) ? passFor(customer, grantOf(keyId)) : undefined
  }

  /** One pair per customer, derived from the seed, the customer and the number of revocations since the sandbox began. */
  pairOf({ id, username }: Customer): KeyPair {
    const known = this.#pairs.get(id)
    if (known !== undefined) return known
    const hmac = createHmac('sha512', `sandbox alpaca keys ${this.#brokerage.seed}`)
    const letters = hmac.update(`${username} ${this.#revoked.get(id) ?? 0}`).digest('hex')
    // `PK` is how the keys of practice accounts begin.
    const pair = { keyId: `PK${letters.slice(0, 18).toUpperCase()}`, secret: letters.slice(18, 58) }
    this.#pairs.set(id, pair)
    return pair
  }

  /** The user has a new pair from now on. @returns the grant that ended */
  revokeKeys(customer: Customer): string {
    const { keyId } = this.pairOf(customer)
    this.#revoked.set(customer.id, (this.#revoked.get(customer.id) ?? 0) + 1)
    this.#pairs.delete(customer.id)
    return grantOf(keyId)
  }

  #passOf({ headers, url }: FastifyRequest): Pass {
    const { authorization = '', 'apca-api-key-id': keyId, 'apca-api-secret-key': secret } = headers
    const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization) ?? []
    const isKnown = keyId !== undefined || token !== undefined
    const [anybody] = this.#brokerage.customers.all()
    // An unauthenticated request counts as one of the sandbox's first customer.
    if (!isKnown && url.startsWith(OPEN) && anybody !== undefined) return passFor(anybody, 'none')
    if (!isKnown) throw new Problem('token_missing', 'forbidden.')
    const pass = keyId === undefined ? this.ofPair('oauth', token) : this.ofPair(keyId, secret)
    if (pass === undefined) throw new Problem('token_invalid', 'request is not authorized')
    return pass
  }
}

function passFor({ id: login }: Customer, grant: string): Pass {
  return { login, client: 'api-key', scopes: new Set(['trading', 'data']), grant, expiresAt: Number.MAX_SAFE_INTEGER }
}

function grantOf(keyId: string): string {
  return `alpaca-key-${keyId}`
}
