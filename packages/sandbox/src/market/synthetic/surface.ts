/** The volatilities for pricing synthetic options: one smooth surface per underlying. */
import type { Micros } from '../../engine/types.ts'
import { draw } from './chance.ts'

/** Volatilities per year; `0.18` is 18 %. */
export interface SurfaceShape {
  /** At the money, for the shortest and the longest expirations. */
  readonly short: number
  readonly long: number
  /** -1 to 1: below zero, low strikes have the higher volatility. */
  readonly skew: number
  /** The difference of strikes away from the money. `curve × (1 + |skew|)` is at most 2: beyond that, prices could allow arbitrage. */
  readonly curve: number
}

/** The speed of the transition from short to long volatility, per year. */
const REVERSION = 3
/** The largest deviation of a day's whole surface from the usual, up or down. */
const DRIFT = 0.12
const DAY: Micros = 86_400_000_000

/**
 * At an instant `t`, `T` years before expiration and at `k`, the logarithm of strike over forward, the variance up to expiration is
 *
 *     w = θ/2 · (1 + ρφk + √((φk + ρ)² + 1 − ρ²)),  φ = η / √(θ(1 + θ)),
 *     θ = m(t)² · (l²T + (s² − l²)(1 − e^(−3T))/3),
 *
 * with short volatility `s`, long `l`, skew `ρ` and curve `η` of the underlying, and `m(t)` from 0.88 to 1.12, drawn for every day of UTC
 * from the seed and linear in between. The volatility is √(w/T). With η(1 + |ρ|) ≤ 2 and θ growing with T such a surface leaves no room for
 * arbitrage, neither between strikes nor between expirations (J. Gatheral and A. Jacquier, Arbitrage-free SVI volatility surfaces, 2014).
 * Far from the money the volatility grows as T^(−1/4) when T goes to 0: below 3 up to four hours before the end, about 8 in the last
 * minute.
 */
export class Surface {
  readonly #key: number
  readonly #shape: SurfaceShape

  constructor(key: number, shape: SurfaceShape) {
    this.#key = key
    this.#shape = shape
  }

  /** The smile of one expiration at an instant. @param years to expiration, above 0 */
  smile(at: Micros, years: number): Smile {
    const { short, long, skew, curve } = this.#shape
    const level = this.#level(at)
    const term = long * long * years + ((short * short - long * long) * -Math.expm1(-REVERSION * years)) / REVERSION
    const variance = level * level * term
    return { years, variance, skew, steepness: curve / Math.sqrt(variance * (1 + variance)) }
  }

  #level(at: Micros): number {
    const day = Math.floor(at / DAY)
    const into = at / DAY - day
    return 1 + DRIFT * (this.#swing(day) * (1 - into) + this.#swing(day + 1) * into)
  }

  #swing(day: number): number {
    return draw(this.#key, day) / 2 ** 31 - 1
  }
}

export interface Smile {
  readonly years: number
  /** θ. */
  readonly variance: number
  /** ρ. */
  readonly skew: number
  /** φ. */
  readonly steepness: number
}

/** @param moneyness logarithm of strike over forward */
export function volatilityAt({ years, variance, skew, steepness }: Smile, moneyness: number): number {
  const x = steepness * moneyness
  const total = (variance / 2) * (1 + skew * x + Math.sqrt((x + skew) * (x + skew) + 1 - skew * skew))
  return Math.sqrt(total / years)
}
