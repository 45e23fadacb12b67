/** Access control: OAuth tokens and API keys, scopes, and rate limits. */

import { createHmac } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { type Answer, type Customer, Fields, Journal, type Pass, Problem } from '../frame/brokerage.ts'
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

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const KEY_SCOPES = new Set(['trading', 'data'])
/** Crypto prices are public. */
const OPEN = '/alpaca/data/v1beta3/crypto/'

interface KeyPair {
  readonly keyId: string
  readonly secret: string
}

interface Revoked {
  readonly login: string
  readonly times: number
}

export class Access {
  readonly #grants: Grants
  readonly #brokerage: BrokerageView
  readonly #quotas: Quotas
  readonly #revoked = new Map<string, number>()
  readonly #pairs = new Map<string, KeyPair>()
  readonly #journal: Journal<Revoked> | null
  /** Who makes a request, those refused for their number included. */
  readonly #logins = new WeakMap<FastifyRequest, string>()
  #limits = WIDE

  constructor(brokerage: BrokerageView, grants: Grants) {
    const file = brokerage.inFolder('alpaca-keys.jsonl')
    this.#brokerage = brokerage
    this.#grants = grants
    this.#quotas = new Quotas(brokerage.realNow)
    this.#journal = file === null ? null : new Journal<Revoked>(file, ({ login, times }) => this.#revoked.set(login, times))
  }

  get limits(): typeof WIDE {
    return this.#limits
  }

  /** @throws Problem `bad_request` */
  setLimits(body: unknown): void {
    const fields = new Fields(body, Object.keys(WIDE))
    const read = (name: keyof typeof WIDE) => fields.countOr(name, 1, LIMIT_MAX) ?? this.#limits[name]
    this.#limits = {
      requests_per_minute: read('requests_per_minute'),
      connections_per_stream: read('connections_per_stream'),
      symbols_per_stream: read('symbols_per_stream')
    }
  }

  reset(): void {
    this.#limits = WIDE
  }

  /** @throws Problem */
  admit(request: FastifyRequest, host: Host): Pass {
    const pass = this.#passOf(request, host === 'data' && request.url.startsWith(OPEN))
    this.#logins.set(request, pass.login)
    const quota = this.#quotaOf(pass.login, host)
    if (!this.#quotas.take(quota)) {
      const retryAfter = Math.ceil((this.#quotas.state(quota).endsAt - this.#brokerage.realNow()) / 1000)
      throw new Problem('slow_down', 'rate limit exceeded', { retryAfter })
    }
    const scope = host === 'data' ? 'data' : request.method === 'GET' ? null : 'trading'
    if (scope !== null && !pass.scopes.has(scope)) throw new Problem('scope_missing', `this needs the scope ${scope}`)
    return pass
  }

  /** What is left of the rate limit. */
  headers(request: FastifyRequest, host: Host): Answer['headers'] {
    const login = this.#logins.get(request)
    if (login === undefined) return {}
    const quota = this.#quotaOf(login, host)
    const { remaining, endsAt } = this.#quotas.state(quota)
    return {
      'x-ratelimit-limit': String(quota.limit),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-reset': String(Math.ceil(endsAt / 1000))
    }
  }

  ofToken(token: string): Pass | undefined {
    return this.#grants.pass(token)
  }

  /** As streams receive it: a pair of keys, or `oauth` and a token. */
  ofPair(keyId: string, secret: string): Pass | undefined {
    if (keyId === 'oauth') return this.ofToken(secret)
    const customer = this.#brokerage.customers.all().find(one => this.pairOf(one).keyId === keyId)
    if (customer === undefined || !isSame(this.pairOf(customer).secret, secret)) return undefined
    return { login: customer.id, client: 'api-key', scopes: KEY_SCOPES, grant: grantOf(keyId), expiresAt: Number.MAX_SAFE_INTEGER }
  }

  /** One pair per customer, derived from the seed, the customer and the number of revocations. */
  pairOf({ id, username }: Customer): KeyPair {
    const known = this.#pairs.get(id)
    if (known !== undefined) return known
    const hmac = createHmac('sha512', `sandbox alpaca keys ${this.#brokerage.seed}`)
    const bytes = hmac.update(`${username} ${this.#revoked.get(id) ?? 0}`).digest()
    // `PK` is how the keys of practice accounts begin.
    const keyId = `PK${[...bytes.subarray(0, 18)].map(byte => LETTERS[byte % LETTERS.length]).join('')}`
    const pair = { keyId, secret: bytes.subarray(18, 48).toString('base64url') }
    this.#pairs.set(id, pair)
    return pair
  }

  /** The user has a new pair from now on. @returns the grant that ended */
  revokeKeys(login: string): string | null {
    const customer = this.#brokerage.customers.byId(login)
    if (customer === undefined) return null
    const { keyId } = this.pairOf(customer)
    const revoked = { login, times: (this.#revoked.get(login) ?? 0) + 1 }
    this.#journal?.append(revoked)
    this.#revoked.set(login, revoked.times)
    this.#pairs.delete(login)
    return grantOf(keyId)
  }

  close(): void {
    this.#journal?.close()
  }

  #quotaOf(login: string, host: Host): Quota {
    return { key: `${host} ${login}`, limit: this.#limits.requests_per_minute, periodMs: 60_000 }
  }

  #passOf({ headers }: FastifyRequest, isOpen: boolean): Pass {
    const { authorization = '', 'apca-api-key-id': keyId, 'apca-api-secret-key': secret } = headers
    const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization) ?? []
    const hasKeys = typeof keyId === 'string' && typeof secret === 'string'
    const [anybody] = this.#brokerage.customers.all()
    // Crypto prices are public: an unauthenticated request counts as one of the sandbox's first customer.
    if (!hasKeys && token === undefined && isOpen && anybody !== undefined)
      return { login: anybody.id, client: 'nobody', scopes: KEY_SCOPES, grant: 'none', expiresAt: Number.MAX_SAFE_INTEGER }
    if (!hasKeys && token === undefined) throw new Problem('token_missing', 'forbidden.')
    const pass = hasKeys ? this.ofPair(keyId, secret) : this.ofToken(token ?? '')
    if (pass === undefined) throw new Problem('token_invalid', 'request is not authorized')
    return pass
  }
}

function grantOf(keyId: string): string {
  return `alpaca-key-${keyId}`
}
