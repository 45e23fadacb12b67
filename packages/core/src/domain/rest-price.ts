// Derives the price of the quantity that a broker's total has beyond known executions. The broker's average is rounded, so it stands for a
// range of prices.
import {
  absolute,
  canonical,
  compare,
  type Decimal,
  dividedBy,
  isPositive,
  lastPlace,
  minus,
  parseDecimal,
  placesOf,
  plus,
  sum,
  times
} from './decimal.ts'
import { mayBeNegative } from './executions.ts'
import type { Fill, Order } from './order.ts'

/** Most decimal places of the prices of shares and options. The tick size of crypto and futures is not known here. */
export const PRICE_PLACES = 4
/** Instruments whose prices have at most `PRICE_PLACES`. */
export const PRICED: ReadonlySet<Order['instrument']> = new Set(['STK', 'OPT', 'MLEG_OPT'])
const PLACES_LEAST = 2
const PLACES_MAX = 9
const TWO = parseDecimal('2', 'two')

/** Cum qty and average price, as the broker states them. */
export interface Stated {
  readonly quantity: Decimal
  readonly averagePrice: Decimal
}

export type Traded = Pick<Fill, 'quantity' | 'price'>

/** The order's terms that limit its execution prices. */
export type Terms = Pick<Order, 'instrument' | 'side' | 'limitPrice'>

/** Whether an execution of the order can have had this price, given the average price that the broker states. */
export function isPossible(price: Decimal, { instrument, side, limitPrice }: Terms, averagePrice: Decimal): boolean {
  if (!mayBeNegative(instrument) && !isPositive(price)) return false
  // Brokers disagree on the sign of a multi-leg order's limit. An average beyond the limit shows that the limit was different at the time.
  if (limitPrice === null || instrument === 'MLEG_OPT') return true
  const worse = side.startsWith('BUY') ? 1 : -1
  return compare(price, limitPrice) !== worse || compare(averagePrice, limitPrice) === worse
}

/**
 * The price of the `rest` of a total whose other `part` has known prices. Candidates are possible prices for which the average comes out as
 * stated. If the tick size leaves only one candidate, it is that one. Otherwise it is the average itself, if it is a candidate, and then
 * the candidate with the fewest decimal places, because whole cents are likelier than a remainder of rounding. Without a candidate it is
 * the average, which the broker did state.
 */
export function restPrice(part: readonly Traded[], total: Stated, rest: Decimal, terms: Terms): Decimal {
  const { averagePrice } = total
  if (part.length === 0) return averagePrice
  const places = placesOf(averagePrice)
  // An average with no place or one place probably lost its trailing zeros, so two places are tried first.
  return (
    consistentPrice({ part, total, rest, terms, places: Math.min(PLACES_MAX, Math.max(PLACES_LEAST, places)) }) ??
    (places < PLACES_LEAST ? consistentPrice({ part, total, rest, terms, places }) : null) ??
    averagePrice
  )
}

interface Question {
  readonly part: readonly Traded[]
  readonly total: Stated
  readonly rest: Decimal
  readonly terms: Terms
  /** Decimal places that the average is taken to be rounded to. */
  readonly places: number
}

function consistentPrice({ part, total, rest, terms, places: statedPlaces }: Question): Decimal | null {
  const { quantity, averagePrice } = total
  const known = sum(part.map(paid))
  const stated = times(averagePrice, quantity)
  const reach = times(quantity, lastPlace(statedPlaces))
  const couldBe = (price: Decimal) => {
    const value = plus(known, times(price, rest))
    const distance = absolute(minus(value, stated))
    const isRounded = compare(times(distance, TWO), reach) <= 0
    const isCutOff = compare(distance, reach) < 0 && compare(absolute(value), absolute(stated)) >= 0
    return (isRounded || isCutOff) && isPossible(price, terms, averagePrice)
  }
  const value = minus(stated, known)
  const ends = terms.limitPrice === null ? [] : [canonical(terms.limitPrice)]
  const around = (places: number) => {
    const nearest = dividedBy(value, rest, places)
    const step = lastPlace(places)
    return [nearest, plus(nearest, step), minus(nearest, step)].filter(couldBe)
  }
  if (PRICED.has(terms.instrument)) {
    const [only] = around(PRICE_PLACES)
    const step = lastPlace(PRICE_PLACES)
    if (only !== undefined && !couldBe(plus(only, step)) && !couldBe(minus(only, step))) return only
  }
  if (couldBe(averagePrice)) return averagePrice
  for (let places = PLACES_LEAST; places <= PLACES_MAX; places += 1) {
    // The limit price and the smallest price come last: the range given by the average may lie mostly beyond them.
    const [price] = [...around(places), ...[...ends, lastPlace(places)].filter(couldBe)]
    if (price !== undefined) return price
  }
  return null
}

export function paid({ quantity, price }: Traded): Decimal {
  return times(quantity, price)
}
