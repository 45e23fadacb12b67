/** The value and greeks of an option: Black, Scholes and Merton, with a continuous dividend yield. */
import { cumulative, density } from './normal.ts'

/** Rates and yields per year, continuously compounded; `0.05` is 5 %. */
export interface Terms {
  readonly right: 'call' | 'put'
  readonly spot: number
  readonly strike: number
  /** To expiration; at 0 or less only the exercise value is left. */
  readonly years: number
  readonly rate: number
  readonly dividend: number
}

export interface Valuation {
  readonly value: number
  /** Change of the value per unit of the spot. */
  readonly delta: number
  /** Change of delta per unit of the spot. */
  readonly gamma: number
  /** Change of the value per calendar day. */
  readonly theta: number
  /** Change of the value per percentage point of volatility. */
  readonly vega: number
  /** Change of the value per percentage point of the rate. */
  readonly rho: number
}

const DAYS_A_YEAR = 365
const POINT = 0.01

/** The value of immediate exercise. */
export function intrinsic({ right, spot, strike }: Terms): number {
  return Math.max(0, right === 'call' ? spot - strike : strike - spot)
}

/** @param volatility per year; `0.2` is 20 % */
export function worth(terms: Terms, volatility: number): number {
  const { right, spot, strike, years, rate, dividend } = terms
  const deviation = volatility * Math.sqrt(Math.max(0, years))
  if (!(deviation > 0)) return years > 0 ? certain(terms) : intrinsic(terms)
  const d1 = Math.log(spot / strike) / deviation + ((rate - dividend) * years) / deviation + deviation / 2
  const sign = right === 'call' ? 1 : -1
  const paid = strike * Math.exp(-rate * years) * cumulative(sign * (d1 - deviation))
  return Math.max(0, sign * (spot * Math.exp(-dividend * years) * cumulative(sign * d1) - paid))
}

/** The value and its sensitivities together. At expiration and without volatility the last four are 0. */
export function valuation(terms: Terms, volatility: number): Valuation {
  const { right, spot, strike, years, rate, dividend } = terms
  const root = Math.sqrt(Math.max(0, years))
  const deviation = volatility * root
  const sign = right === 'call' ? 1 : -1
  if (!(deviation > 0)) return settled(terms)
  const d1 = Math.log(spot / strike) / deviation + ((rate - dividend) * years) / deviation + deviation / 2
  const d2 = d1 - deviation
  const held = Math.exp(-dividend * years)
  const due = strike * Math.exp(-rate * years)
  const in1 = cumulative(sign * d1)
  const in2 = cumulative(sign * d2)
  const bell = density(d1)
  const decay = -(spot * held * bell * volatility) / (2 * root) - sign * rate * due * in2 + sign * dividend * spot * held * in1
  return {
    value: Math.max(0, sign * (spot * held * in1 - due * in2)),
    delta: sign * held * in1,
    gamma: (held * bell) / (spot * deviation),
    theta: decay / DAYS_A_YEAR,
    vega: spot * held * bell * root * POINT,
    rho: sign * due * years * in2 * POINT
  }
}

/** The range of the search for a volatility. */
export const VOLATILITY_MIN = 0.001
export const VOLATILITY_MAX = 10
const STEPS_MAX = 100

/**
 * The volatility at which the option's value is `price`: Newton's method, with bisection if a step would leave the bracket. To about ten
 * digits of the price. Null if no volatility from {@link VOLATILITY_MIN} to {@link VOLATILITY_MAX} gives it.
 */
export function impliedVolatility(terms: Terms, price: number): number | null {
  if (!(terms.years > 0 && terms.spot > 0 && terms.strike > 0 && Number.isFinite(price))) return null
  let low = VOLATILITY_MIN
  let high = VOLATILITY_MAX
  const precision = 1e-10 * Math.max(1, price)
  if (price <= worth(terms, low) + precision || price >= worth(terms, high)) return null
  let guess = Math.min(1, Math.sqrt((2 * Math.PI) / terms.years) * (price / terms.spot))
  for (let step = 0; step < STEPS_MAX; step++) {
    if (!(guess > low && guess < high)) guess = (low + high) / 2
    const { value, vega } = valuation(terms, guess)
    const error = value - price
    if (Math.abs(error) <= precision || high - low < 1e-12) return guess
    if (error > 0) high = guess
    else low = guess
    guess -= (error * POINT) / vega
  }
  return guess
}

/** The value without volatility: the discounted value of exercise at expiration. */
function certain({ right, spot, strike, years, rate, dividend }: Terms): number {
  const gain = spot * Math.exp(-dividend * years) - strike * Math.exp(-rate * years)
  return Math.max(0, right === 'call' ? gain : -gain)
}

function settled(terms: Terms): Valuation {
  const value = terms.years > 0 ? certain(terms) : intrinsic(terms)
  const delta = value > 0 ? (terms.right === 'call' ? 1 : -1) : 0
  return { value, delta, gamma: 0, theta: 0, vega: 0, rho: 0 }
}
