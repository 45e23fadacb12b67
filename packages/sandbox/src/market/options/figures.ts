/** Model figures as texts. They are rounded; only what is traded needs exact decimals. */
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { OptionFigures } from '../types.ts'
import type { Valuation } from './greeks.ts'

/** Decimal places: prices to a hundredth of a cent, sensitivities to a millionth. */
const VALUE_PLACES = 4
const GREEK_PLACES = 6

/** The shortest decimal of a number rounded to this many places; null if it is not a finite number. */
export function rounded(value: number, places: number): Decimal | null {
  if (!Number.isFinite(value) || Math.abs(value) >= 1e15) return null
  const fixed = value.toFixed(places)
  const short = fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed
  return (short === '-0' ? '0' : short) as Decimal
}

export type ModelFigures = Pick<OptionFigures, 'theoretical' | 'delta' | 'gamma' | 'theta' | 'vega' | 'rho' | 'iv'>

export const NO_MODEL: ModelFigures = { theoretical: null, delta: null, gamma: null, theta: null, vega: null, rho: null, iv: null }

/** @param volatility per year */
export function modelFigures({ value, delta, gamma, theta, vega, rho }: Valuation, volatility: number): ModelFigures {
  return {
    theoretical: rounded(value, VALUE_PLACES),
    delta: rounded(delta, GREEK_PLACES),
    gamma: rounded(gamma, GREEK_PLACES),
    theta: rounded(theta, GREEK_PLACES),
    vega: rounded(vega, GREEK_PLACES),
    rho: rounded(rho, GREEK_PLACES),
    iv: rounded(volatility, GREEK_PLACES)
  }
}
