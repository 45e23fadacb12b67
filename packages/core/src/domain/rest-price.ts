// The price of what a broker's total has beyond known executions. An average is rounded, so it stands for a range, and so does this price.
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

/** Shares and options trade at prices of so many places at most; the finest price of crypto and futures is not known. */
export const PRICE_PLACES = 4
/** Instruments whose prices have at most `PRICE_PLACES`. */
export const PRICED: ReadonlySet<Order['instrument']> = new Set(['STK', 'OPT', 'MLEG_OPT'])
const PLACES_LEAST = 2
const PLACES_MAX = 9
const TWO = parseDecimal('2', 'two')

/** What is filled in all, and at what average. */
export interface Stated {
  readonly quantity: Decimal
  readonly averagePrice: Decimal
}

export type Traded = Pick<Fill, 'quantity' | 'price'>

/** What an order says of the prices at which it can be executed. */
export type Terms = Pick<Order, 'instrument' | 'side' | 'limitPrice'>

/** Whether an execution of the order can have had the price, given the average that the broker states. */
export function isPossible(price: Decimal, { instrument, side, limitPrice }: Terms, averagePrice: Decimal): boolean {
  if (!mayBeNegative(instrument) && !isPositive(price)) return false
  // Brokers do not agree on the sign of a multi-leg order's limit. An average beyond the limit shows that it was another one at the time.
  if (limitPrice === null || instrument === 'MLEG_OPT') return true
  const worse = side.startsWith('BUY') ? 1 : -1
  return compare(price, limitPrice) !== worse || compare(averagePrice, limitPrice) === worse
}

/**
 * What is left of an average once the price of a part is known. Considered are the prices that are possible and make the average come out as stated.
 * Where the finest price of the instrument leaves one of them, it is that one; otherwise the average itself where it is among them, and then the one with
 * the fewest places, for whole cents are likelier than what rounding leaves. Where there is none it is the average: the broker stated that, at least.
 */
export function restPrice(part: readonly Traded[], total: Stated, rest: Decimal, terms: Terms): Decimal {
  const { averagePrice } = total
  if (part.length === 0) return averagePrice
  const places = placesOf(averagePrice)
  // One place or none: zeros that were left out are likelier than an average without cents.
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
  /** To how many places the average is stated. */
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
    // The ends of what is possible, where what the average says lies mostly beyond them.
    const [price] = [...around(places), ...[...ends, lastPlace(places)].filter(couldBe)]
    if (price !== undefined) return price
  }
  return null
}

export function paid({ quantity, price }: Traded): Decimal {
  return times(quantity, price)
}
