/**
 * Sums of prices as integers of their last decimal place, for calculations that run many thousand times a second. Longer numbers go to the
 * core's arithmetic; the results are the same.
 */

import { type Decimal, dividedBy, isZero, minus, parseDecimal, placesOf, plus, times } from '../decimal.ts'
import { quotientOf, textOfUnits, unitsOf } from './units.ts'

/** A number of this many digits, times 100, times 10 to the power {@link PERCENT_PLACES}, is still a safe integer. */
const DIGITS_MAX = 9
const PERCENT_PLACES = 4
const TO_PERCENT = 10 ** (2 + PERCENT_PLACES)
const TWO = parseDecimal('2', 'two')
const HUNDRED = parseDecimal('100', 'hundred')

/** The exact midpoint of two numbers. */
export function middle(a: Decimal, b: Decimal): Decimal {
  if (a === b) return a
  const places = Math.max(placesOf(a), placesOf(b))
  const [first, second] = [shortUnits(a, places), shortUnits(b, places)]
  if (first === null || second === null) return dividedBy(plus(a, b), TWO, places + 1)
  return shown((first + second) * 5, places + 1)
}

/** `a` minus `b`, exact. */
export function difference(a: Decimal, b: Decimal): Decimal {
  const places = Math.max(placesOf(a), placesOf(b))
  const [first, second] = [shortUnits(a, places), shortUnits(b, places)]
  return first === null || second === null ? minus(a, b) : shown(first - second, places)
}

/** `part` in percent of `whole`, rounded half to even at four places; null when `whole` is zero. */
export function percentage(part: Decimal, whole: Decimal): Decimal | null {
  const places = Math.max(placesOf(part), placesOf(whole))
  const [above, below] = [shortUnits(part, places), shortUnits(whole, places)]
  if (above === null || below === null) return isZero(whole) ? null : dividedBy(times(part, HUNDRED), whole, PERCENT_PLACES)
  return below === 0 ? null : shown(quotientOf(above * TO_PERCENT, below), PERCENT_PLACES)
}

/** Null when it is too long. */
function shortUnits(number: Decimal, places: number): number | null {
  const units = unitsOf(number, placesOf(number), places, DIGITS_MAX)
  return Number.isNaN(units) ? null : units
}

function shown(units: number, places: number): Decimal {
  return parseDecimal(textOfUnits(units, places), 'sum')
}
