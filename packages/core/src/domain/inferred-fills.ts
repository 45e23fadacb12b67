// Fills of orders of which a broker reports totals only. No price is made up: each is one that the totals prove, or an average that the broker stated.
import { absolute, canonical, compare, type Decimal, dividedBy, lastPlace, minus, parseDecimal, placesOf, sum, times } from './decimal.ts'
import { FILLS_MAX } from './executions.ts'
import type { Fill } from './order.ts'
import { isPossible, PRICE_PLACES, PRICED, paid, restPrice, type Stated, type Terms, type Traded } from './rest-price.ts'
import type { Timestamp } from './timestamp.ts'

const ONE = parseDecimal('1', 'one')

/**
 * The order's fills with the quantity that they lack of a total. It is one fill more where its price is known: that of all others, or the one that
 * the difference of two totals proves. Elsewhere, and where there are as many as are kept, all that was inferred becomes one fill at the average, under the
 * id it had first.
 */
export function filledUpTo(order: Terms & { readonly fills: readonly Fill[] }, total: Stated, at: Timestamp): readonly Fill[] {
  const { fills, instrument } = order
  const { quantity, averagePrice } = total
  const missing = minus(quantity, sum(fills.map(fill => fill.quantity)))
  const made = { fillId: `inferred-${quantity}`, at, execDest: null, inferred: true } as const
  const isSame = fills.every(fill => compare(fill.price, averagePrice) === 0)
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

/** The one price at which the missing quantity makes the one total of the other; null where places are too few to be sure, or it had several. */
function provenPrice(fills: readonly Fill[], { quantity, averagePrice }: Stated, missing: Decimal): Decimal | null {
  const values = fills.map(fill => (fill.inferred === true ? paidFor(fill) : paid(fill)))
  const total = paidFor({ quantity, price: averagePrice })
  if (total === null || values.includes(null)) return null
  const value = minus(total, sum(values.filter(each => each !== null)))
  const price = dividedBy(value, missing, PRICE_PLACES)
  // The places say how exact the broker is, which the next total needs to know.
  return compare(times(price, missing), value) === 0 ? padded(price, placesOf(averagePrice)) : null
}

/**
 * What was paid for a quantity in all, to the last digit. A stated average is rounded or cut off at its last place, so that it stands for a range; what
 * was paid is a multiple of the least price times the least quantity. Null where several are in the range.
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

/** The same number, written with so many places at least. */
function padded(number: Decimal, places: number): Decimal {
  const lacking = places - placesOf(number)
  if (lacking <= 0) return number
  return parseDecimal(`${number}${number.includes('.') ? '' : '.'}${'0'.repeat(lacking)}`, 'a padded number')
}
