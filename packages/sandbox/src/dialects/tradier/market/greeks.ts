/** Model figures of options, which are new once an hour. */

import { isoOf } from '../../../house/clock.ts'
import type { DialectHouse } from '../../../house/dialect.ts'
import { type Branch, figure } from '../tree.ts'

const HOUR = 3_600_000_000
/** Contracts whose figures of the hour are remembered. */
const KEPT_MAX = 50_000

export class Greeks {
  readonly #house: Pick<DialectHouse, 'market' | 'clock'>
  readonly #kept = new Map<string, Branch>()
  #hour = 0

  constructor(house: Pick<DialectHouse, 'market' | 'clock'>) {
    this.#house = house
  }

  /** Null where the model has nothing to say. */
  of(symbol: string): Branch | null {
    const now = this.#house.clock.now()
    const hour = Math.floor(now / HOUR)
    if (hour !== this.#hour || this.#kept.size >= KEPT_MAX) this.#kept.clear()
    this.#hour = hour
    const known = this.#kept.get(symbol)
    if (known !== undefined) return known
    const figures = this.#house.market.figures(symbol, now)
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
    this.#kept.set(symbol, made)
    return made
  }
}
