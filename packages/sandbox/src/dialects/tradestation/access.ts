/** Access control: tokens, scopes, and quotas by login and resource. */

import type { FastifyRequest } from 'fastify'
import { type Pass, Problem } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Grants } from '../frame/grants.ts'
import { Quotas } from '../frame/quotas.ts'

/**
 * Quotas are twenty times the published ones: tests and benches drive one login harder than a user's programs may. The caps on open streams
 * are the published ones, because a client has to live within them from the first day.
 */
export const DEFAULT_OPTIONS = {
  /** Of the published request quotas. */
  quotaPercent: 2_000,
  /** Of the published number of open streams of one kind. */
  streamPercent: 100,
  /** Chance in 256 that a cut is made in the frames of one turn, so that a chunk ends within a frame. */
  cutChance: 64,
  /** Chance in 256 of each of the order stream's oddities: see README.md. */
  oddityChance: 64
}
export type Options = typeof DEFAULT_OPTIONS

interface Resource {
  /** Of the route's path. */
  readonly piece: string
  readonly name: string
  readonly limit: number
  readonly periodS: number
  /** Streams that may be open at the same time. */
  readonly open: number
}

type Counted = (piece: string, name: string, limit: number, open?: number) => Resource
const perMinute: Counted = (piece, name, limit, open = Number.POSITIVE_INFINITY) => ({ piece, name, limit, periodS: 60, open })
const perFiveMinutes: Counted = (...of) => ({ ...perMinute(...of), periodS: 300 })
/** As TradeStation publishes them; the first that fits counts. Order placement has no published quota. */
const RESOURCES: readonly Resource[] = [
  perMinute('/stream/marketdepth/', 'market-depth', 30, 10),
  perMinute('/stream/options/chains/', 'option-chain-stream', 90, 10),
  perMinute('/options/expirations/', 'option-expirations', 90),
  perMinute('/options/strikes/', 'option-strikes', 90),
  perFiveMinutes('/stream/quotes/', 'quote-change-stream', 500),
  perFiveMinutes('/stream/barcharts/', 'barchart-stream', 500),
  perFiveMinutes('/barcharts/', 'barchart', 500),
  perFiveMinutes('/balances', 'balances', 320),
  perFiveMinutes('/positions', 'positions', 320, 40),
  perFiveMinutes('orders', 'orders', 320, 40),
  perFiveMinutes('/brokerage/accounts', 'accounts', 320)
]

export function resourceOf(path: string): Resource | undefined {
  return path.includes('/orderexecution/') ? undefined : RESOURCES.find(({ piece }) => path.includes(piece))
}

function scopeOf(path: string): string {
  if (path.includes('/stream/marketdepth/')) return 'Matrix'
  if (path.includes('/orderexecution/')) return 'Trade'
  return path.includes('/marketdata/') ? 'MarketData' : 'ReadAccount'
}

/** At least one of anything. */
export function shareOf(count: number, percent: number): number {
  return Math.max(1, Math.floor((count * percent) / 100))
}

export class Access {
  readonly options: Options
  readonly #grants: Grants
  readonly #now: () => number
  readonly #quotas: Quotas
  readonly #headers = new WeakMap<FastifyRequest, Readonly<Record<string, string>>>()

  constructor({ realNow }: BrokerageView, grants: Grants, options: Options) {
    this.#grants = grants
    this.#now = realNow
    this.#quotas = new Quotas(realNow)
    this.options = options
  }

  reset(): void {
    this.#quotas.reset()
  }

  /** @throws Problem */
  admit(request: FastifyRequest): Pass {
    const path = request.routeOptions.url ?? ''
    const [, token = ''] = /^Bearer ([\w~+/.=-]{1,4096})$/i.exec(request.headers.authorization ?? '') ?? []
    const pass = this.#grants.pass(token)
    if (pass === undefined) throw new Problem('token_invalid', 'Access token is invalid or expired')
    const scope = scopeOf(path)
    if (!pass.scopes.has(scope)) throw new Problem('scope_missing', `The access token was granted without the scope ${scope}`)
    const resource = resourceOf(path)
    if (resource !== undefined) this.#count(request, `${pass.login} ${resource.name}`, resource)
    return pass
  }

  /** What is left of the quota. */
  headers(request: FastifyRequest): Readonly<Record<string, string>> {
    return this.#headers.get(request) ?? {}
  }

  /** @throws Problem beyond the quota */
  #count(request: FastifyRequest, key: string, { limit, periodS }: Resource): void {
    const quota = { key, limit: shareOf(limit, this.options.quotaPercent), periodMs: periodS * 1_000 }
    const isTaken = this.#quotas.take(quota)
    const { remaining, endsAt } = this.#quotas.state(quota)
    const retryAfter = Math.max(1, Math.ceil((endsAt - this.#now()) / 1_000))
    this.#headers.set(request, { 'X-RateLimit-Remaining': String(remaining), 'X-RateLimit-Reset': String(retryAfter) })
    if (!isTaken) throw new Problem('slow_down', 'Rate quota exceeded', { retryAfter })
  }
}
