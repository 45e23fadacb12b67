// Infers the fills of orders for which a broker reports totals only. No price is invented: it follows from the totals, or it is an average
// that the broker stated.
import {
  absolute,
  areEqual,
  canonical,
  compare,
  type Decimal,
  dividedBy,
  lastPlace,
  minus,
  parseDecimal,
  placesOf,
  sum,
  times
} from './decimal.ts'
import { FILLS_MAX } from './executions.ts'
import type { Fill } from './order.ts'
import { isPossible, PRICE_PLACES, PRICED, paid, restPrice, type Stated, type Terms, type Traded } from './rest-price.ts'
import type { Timestamp } from './timestamp.ts'

const ONE = parseDecimal('1', 'one')

/**
 * The order's fills, extended to the cum qty of `total`. One fill is added if its price is known: the price of all fills before it, or the
 * only one that explains the difference between two totals. Otherwise, and at {@link FILLS_MAX} fills, all inferred fills are merged into
 * one at their average price, under the id of the first.
 */
export function filledUpTo(order: Terms & { readonly fills: readonly Fill[] }, total: Stated, at: Timestamp): readonly Fill[] {
  const { fills, instrument } = order
  const { quantity, averagePrice } = total
  const missing = minus(quantity, sum(fills.map(fill => fill.quantity)))
  const made = { fillId: `inferred-${quantity}`, at, execDest: null, inferred: true } as const
  const isSame = fills.every(fill => areEqual(fill.price, averagePrice))
  const price = isSame ? averagePrice : PRICED.has(instrument) ? provenPrice(fills, total, missing) : null
  if (price !== null && isPossible(price, order, averagePrice) && fills.length < FILLS_MAX)
    return [...fills, { ...made, quantity: missing, price }]
  const executed = fills.filter(({ inferred }) => inferred !== true)
  const first = fills.find(({ inferred }) => inferred === true)
  const rest = minus(quantity, sum(executed.map(fill => fill.quantity)))
  const one = { ...made, fillId: first?.fillId ?? made.fillId, quantity: rest, price: restPrice(executed, total, rest, order) }
  if (first === undefined) return [...fills, one]
  return fills.flatMap(fill => (fill === first ? [one] : fill.inferred === true ? [] : [fill]))
}

/**
 * The price of the missing quantity that explains the difference between the totals. Null if the average has too few places to be sure, or
 * no single price does.
 */
function provenPrice(fills: readonly Fill[], { quantity, averagePrice }: Stated, missing: Decimal): Decimal | null {
  const values = fills.map(fill => (fill.inferred === true ? paidFor(fill) : paid(fill)))
  const total = paidFor({ quantity, price: averagePrice })
  if (total === null || values.includes(null)) return null
  const value = minus(total, sum(values.filter(each => each !== null)))
  const price = dividedBy(value, missing, PRICE_PLACES)
  // The number of places shows the broker's precision, which the next total needs.
  return areEqual(times(price, missing), value) ? padded(price, placesOf(averagePrice)) : null
}

/**
 * The exact amount (price × quantity) behind an average price. The average is rounded or truncated at its last place, so it stands for a
 * range of amounts; the amount is a multiple of the smallest price step (`PRICE_PLACES`) times the smallest quantity step. Null if the
 * range holds more than one such multiple.
 */
function paidFor({ quantity, price: average }: Traded): Decimal | null {
  const places = PRICE_PLACES + placesOf(canonical(quantity))
  const stated = times(average, quantity)
  const nearest = dividedBy(stated, ONE, places)
  const distance = absolute(minus(nearest, stated))
  const reach = times(quantity, lastPlace(placesOf(average)))
  const isOnly = compare(distance, reach) < 0 && compare(minus(lastPlace(places), distance), reach) >= 0
  return isOnly ? nearest : null
}

/** The same number with at least so many decimal places. */
function padded(number: Decimal, places: number): Decimal {
  const lacking = places - placesOf(number)
  if (lacking <= 0) return number
  return parseDecimal(`${number}${number.includes('.') ? '' : '.'}${'0'.repeat(lacking)}`, 'a padded number')
}
