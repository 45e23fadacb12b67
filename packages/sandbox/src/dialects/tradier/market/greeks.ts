/** Model figures of options, which are new once an hour. */

import { isoOf } from '../../../brokerage/clock.ts'
import type { DialectBrokerage } from '../../../brokerage/dialect.ts'
import { type Branch, figure } from '../tree.ts'

const HOUR = 3_600_000_000
/** Contracts whose figures of the hour are remembered. */
const CACHE_MAX = 50_000

export class Greeks {
  readonly #brokerage: Pick<DialectBrokerage, 'market' | 'clock'>
  readonly #cache = new Map<string, Branch>()
  #hour = 0

  constructor(brokerage: Pick<DialectBrokerage, 'market' | 'clock'>) {
    this.#brokerage = brokerage
  }

  /** Null where the model has no value. */
  of(symbol: string): Branch | null {
    const now = this.#brokerage.clock.now()
    const hour = Math.floor(now / HOUR)
    if (hour !== this.#hour || this.#cache.size >= CACHE_MAX) this.#cache.clear()
    this.#hour = hour
    const known = this.#cache.get(symbol)
    if (known !== undefined) return known
    const figures = this.#brokerage.market.figures(symbol, now)
    if (figures?.delta === null || figures === null) return null
    const iv = figure(figures.iv, 1)
    const made = {
      delta: figure(figures.delta, 1),
      gamma: figure(figures.gamma, 1),
      theta: figure(figures.theta, 1),
      vega: figure(figures.vega, 1),
      rho: figure(figures.rho, 1),
      phi: figure('0', 1),
      ...{ bid_iv: iv, mid_iv: iv, ask_iv: iv, smv_vol: iv },
      updated_at: `${isoOf(hour * HOUR).slice(0, 10)} ${isoOf(hour * HOUR).slice(11, 19)}`
    }
    this.#cache.set(symbol, made)
    return made
  }
}
