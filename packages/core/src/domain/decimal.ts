import Big from 'big.js'
import type { Brand } from './brand.ts'
import { quotientOf, textOfUnits, unitsOf } from './fast/units.ts'
import { Malformed } from './malformed.ts'

/**
 * An exact number in plain decimal notation, kept as it was written: `1.50` stays `1.50`. No exponent, no leading plus, no surrounding
 * space, and at most {@link DIGITS_MAX} digits. `-0` is not valid.
 */
export type Decimal = Brand<string, 'Decimal'>

/** Most digits of a decimal. More than any price, quantity or amount of a broker needs. */
export const DIGITS_MAX = 38

const PLAIN = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

// Strict mode throws for binary floats: a number that reaches this file is a bug, not an input.
const Exact = Big()
Exact.strict = true
Exact.NE = -1_000
Exact.PE = 1_000

export const ZERO = '0' as Decimal

/** @throws Malformed naming `what` unless `text` is a plain decimal. */
export function parseDecimal(text: unknown, what: string): Decimal {
  if (isDecimal(text)) return text
  throw new Malformed(what, `a plain decimal string with at most ${DIGITS_MAX} digits`, text)
}

/** Whether `text` is a plain decimal, digits and length included. */
export function isDecimal(text: unknown): text is Decimal {
  if (typeof text !== 'string' || text.length > DIGITS_MAX + 2 || !PLAIN.test(text)) return false
  return text.replace(/[-.]/g, '').length <= DIGITS_MAX && !/^-0(?:\.0+)?$/.test(text)
}

/** A decimal for an integer that is not an amount of money: a ratio, a count. */
export function decimalOf(value: bigint): Decimal {
  return value.toString() as Decimal
}

export function plus(a: Decimal, b: Decimal): Decimal {
  const [own, other] = [placesOf(a), placesOf(b)]
  const places = Math.max(own, other)
  const units = unitsOf(a, own, places) + unitsOf(b, other, places)
  return Number.isNaN(units) ? plain(Exact(a).plus(b)) : ofUnits(units, places)
}

export function minus(a: Decimal, b: Decimal): Decimal {
  const [own, other] = [placesOf(a), placesOf(b)]
  const places = Math.max(own, other)
  const units = unitsOf(a, own, places) - unitsOf(b, other, places)
  return Number.isNaN(units) ? plain(Exact(a).minus(b)) : ofUnits(units, places)
}

export function times(a: Decimal, b: Decimal): Decimal {
  const [own, other] = [placesOf(a), placesOf(b)]
  const units = unitsOf(a, own, own) * unitsOf(b, other, other)
  return Number.isSafeInteger(units) ? ofUnits(units, own + other) : plain(Exact(a).times(b))
}

/** The quotient, rounded half to even at `places`. The only inexact operation here, so the caller states the places. */
export function dividedBy(a: Decimal, b: Decimal, places: number): Decimal {
  const [own, other] = [placesOf(a), placesOf(b)]
  const shift = places + other - own
  const above = unitsOf(a, own, own) * 10 ** Math.max(shift, 0)
  const below = unitsOf(b, other, other) * 10 ** Math.max(-shift, 0)
  if (Number.isSafeInteger(above) && Number.isSafeInteger(below) && below !== 0) return ofUnits(quotientOf(above, below), places)
  const Rounded = Big()
  Rounded.DP = places
  Rounded.RM = Big.roundHalfEven
  return plain(Rounded(a).div(b))
}

export function negated(a: Decimal): Decimal {
  return plain(Exact(a).neg())
}

export function absolute(a: Decimal): Decimal {
  return plain(Exact(a).abs())
}

/** -1, 0 or 1. Compares values, not texts: `1.50` equals `1.5`. */
export function compare(a: Decimal, b: Decimal): -1 | 0 | 1 {
  if (a === b) return 0
  const [own, other] = [placesOf(a), placesOf(b)]
  const places = Math.max(own, other)
  const difference = unitsOf(a, own, places) - unitsOf(b, other, places)
  if (Number.isNaN(difference)) return Exact(a).cmp(b)
  return difference === 0 ? 0 : difference > 0 ? 1 : -1
}

/** Whether two values are the same number, or both unknown. */
export function areEqual(a: Decimal | null, b: Decimal | null): boolean {
  return a === b || (a !== null && b !== null && compare(a, b) === 0)
}

export function isZero(a: Decimal): boolean {
  return compare(a, ZERO) === 0
}

export function isPositive(a: Decimal): boolean {
  return compare(a, ZERO) === 1
}

export function sum(values: Iterable<Decimal>): Decimal {
  let total = ZERO
  for (const value of values) total = plus(total, value)
  return total
}

/** The shortest text of the same value: `1.50` → `1.5`. For keys and comparisons, never for displaying a broker's number. */
export function canonical(a: Decimal): Decimal {
  return plain(Exact(a))
}

/** The number of decimal places in the text. */
export function placesOf(a: Decimal): number {
  const point = a.indexOf('.')
  return point === -1 ? 0 : a.length - point - 1
}

/** The number of decimal places without trailing zeros: 1 for `1.50`. */
export function significantPlaces(a: Decimal): number {
  return placesOf(canonical(a))
}

/** The greatest common divisor of whole numbers; 0 for zeros only. */
export function commonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : commonDivisor(b, a % b)
}

/** One unit in the last of so many places: `0.01` for two. */
export function lastPlace(places: number): Decimal {
  return (places === 0 ? '1' : `0.${'1'.padStart(places, '0')}`) as Decimal
}

/** The same value without trailing zeros beyond its first `places`: `1.500` → `1.50` for two. */
export function trimmed(a: Decimal, places: number): Decimal {
  if (placesOf(a) <= places) return a
  const end = a.indexOf('.') + 1 + places
  const text = a.slice(0, end) + a.slice(end).replace(/0+$/, '')
  return (text.endsWith('.') ? text.slice(0, -1) : text) as Decimal
}

function ofUnits(units: number, places: number): Decimal {
  return textOfUnits(units, places) as Decimal
}

function plain(value: Big): Decimal {
  const text = value.toFixed()
  return (text === '-0' ? '0' : text) as Decimal
}
