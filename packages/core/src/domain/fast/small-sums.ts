/**
 * Sums of prices as integers of their last decimal place, for calculations that run many thousand times a second. Longer numbers go to the
 * core's arithmetic; the results are the same.
 */

import { type Decimal, dividedBy, isZero, minus, parseDecimal, placesOf, plus, times } from '../decimal.ts'

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
  const [first, second] = [unitsOf(a, places), unitsOf(b, places)]
  if (first === null || second === null) return dividedBy(plus(a, b), TWO, places + 1)
  return textOf((first + second) * 5, places + 1)
}

/** `a` minus `b`, exact. */
export function difference(a: Decimal, b: Decimal): Decimal {
  const places = Math.max(placesOf(a), placesOf(b))
  const [first, second] = [unitsOf(a, places), unitsOf(b, places)]
  return first === null || second === null ? minus(a, b) : textOf(first - second, places)
}

/** `part` in percent of `whole`, rounded half to even at four places; null when `whole` is zero. */
export function percentage(part: Decimal, whole: Decimal): Decimal | null {
  const places = Math.max(placesOf(part), placesOf(whole))
  const [above, below] = [unitsOf(part, places), unitsOf(whole, places)]
  if (above === null || below === null) return isZero(whole) ? null : dividedBy(times(part, HUNDRED), whole, PERCENT_PLACES)
  return below === 0 ? null : textOf(quotient(above * TO_PERCENT, below), PERCENT_PLACES)
}

/** Null when it is too long. */
function unitsOf(number: Decimal, places: number): number | null {
  const own = placesOf(number)
  if (number.length + places - own > DIGITS_MAX) return null
  return Number(own === 0 ? number : number.replace('.', '')) * 10 ** (places - own)
}

/** Half to even. */
function quotient(above: number, below: number): number {
  const rest = above % below
  const whole = (above - rest) / below
  const twice = Math.abs(rest) * 2 - Math.abs(below)
  const isUp = twice > 0 || (twice === 0 && whole % 2 !== 0)
  return isUp ? whole + Math.sign(above) * Math.sign(below) : whole
}

/** The shortest text of a number of units. */
function textOf(units: number, places: number): Decimal {
  let shown = Math.abs(units)
  let left = places
  while (left > 0 && shown % 10 === 0) {
    shown /= 10
    left -= 1
  }
  const digits = String(shown).padStart(left + 1, '0')
  const text = left === 0 ? digits : `${digits.slice(0, -left)}.${digits.slice(-left)}`
  return parseDecimal(units < 0 ? `-${text}` : text, 'sum')
}
