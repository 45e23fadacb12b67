/** Access control: tokens, scopes, and quotas by login and resource. */

import type { FastifyRequest } from 'fastify'
import { Fields, type Pass, Problem } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Grants } from '../frame/grants.ts'
import { Quotas } from '../frame/quotas.ts'

/**
 * What the control API changes. Quotas are twenty times the published ones: tests and benches drive one login harder than a user's programs may.
 * The caps on open streams are the published ones, because a client has to live within them from the first day.
 */
export const DEFAULT_MODES = {
  /** Whether a refresh spends the refresh token and brings another one. TradeStation's default is not. */
  rotation: false,
  /** Of the published request quotas. */
  quota_percent: 2_000,
  /** Of the published number of open streams of one kind. */
  stream_percent: 100,
  /** Chance in 256 that a cut is made in the frames of one turn, so that a chunk ends within a frame. */
  cut_chance: 64,
  /** Chance in 256 of each of the order stream's oddities: see README.md. */
  oddity_chance: 64
}
export type Modes = typeof DEFAULT_MODES

const PERCENT_MAX = 1_000_000
const CHANCE_MAX = 256

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
  readonly #grants: Grants
  readonly #now: () => number
  readonly #quotas: Quotas
  readonly #given: Modes
  readonly #headers = new WeakMap<FastifyRequest, Readonly<Record<string, string>>>()
  #modes: Modes

  constructor({ realNow }: BrokerageView, grants: Grants, given: Modes) {
    this.#grants = grants
    this.#now = realNow
    this.#quotas = new Quotas(realNow)
    this.#given = given
    this.#modes = given
  }

  get modes(): Modes {
    return this.#modes
  }

  /** What is left out stays. @throws Problem `bad_request` */
  setModes(body: unknown): void {
    const fields = new Fields(body, Object.keys(DEFAULT_MODES))
    const { rotation, ...counts } = this.#modes
    const count = (name: keyof typeof counts, least: number, most: number) => fields.countOr(name, least, most) ?? counts[name]
    this.#modes = {
      rotation: fields.flagOr('rotation') ?? rotation,
      quota_percent: count('quota_percent', 1, PERCENT_MAX),
      stream_percent: count('stream_percent', 1, PERCENT_MAX),
      cut_chance: count('cut_chance', 0, CHANCE_MAX),
      oddity_chance: count('oddity_chance', 0, CHANCE_MAX)
    }
  }

  reset(): void {
    this.#modes = this.#given
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
    const quota = { key, limit: shareOf(limit, this.#modes.quota_percent), periodMs: periodS * 1_000 }
    const isTaken = this.#quotas.take(quota)
    const { remaining, endsAt } = this.#quotas.state(quota)
    const retryAfter = Math.max(1, Math.ceil((endsAt - this.#now()) / 1_000))
    this.#headers.set(request, { 'X-RateLimit-Remaining': String(remaining), 'X-RateLimit-Reset': String(retryAfter) })
    if (!isTaken) throw new Problem('slow_down', 'Rate quota exceeded', { retryAfter })
  }
}
