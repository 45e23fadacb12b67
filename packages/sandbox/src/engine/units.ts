/**
 * The engine's numbers: integers only. A price or a quantity is counted in billionths (1e-9), money in 1e-18, so that price × quantity is
 * exactly money. Text is used only at the boundary.
 */
import { Malformed } from '@trunkline/core/domain/malformed'

/** Billionths of the currency. */
export type Price = bigint
/** Billionths of a unit. */
export type Quantity = bigint
/** Quintillionths (1e-18) of the currency: the exact product of a price and a quantity. */
export type Money = bigint

export const PLACES = 9
export const MONEY_PLACES = 18
export const ONE = 10n ** 9n
const TO_MONEY = 10n ** 9n
const MONEY_ONE = 10n ** 18n
const CENT = 10n ** 16n
const BPS = 10_000n
const FEE_UNIT = 10_000_000n

// Ten whole digits: the product of two such figures, with eighteen places, fits the 38 digits of a domain decimal.
const WHOLE_MAX = 10
const POWERS = Array.from({ length: PLACES + 1 }, (_, power) => 10n ** BigInt(power))
const [ZERO_CODE, NINE_CODE, MINUS_CODE] = [48, 57, 45]

/**
 * Billionths, or undefined unless `text` is a plain decimal with at most ten whole digits and nine places. Reads digit by digit: quotes
 * arrive by the hundred thousand, and a regular expression with captures takes three times as long.
 */
export function readScaled(text: unknown): bigint | undefined {
  if (typeof text !== 'string') return undefined
  const negative = text.charCodeAt(0) === MINUS_CODE
  const start = negative ? 1 : 0
  let dot = text.indexOf('.', start)
  if (dot === -1) dot = text.length
  const places = Math.max(0, text.length - dot - 1)
  if (dot === start || dot - start > WHOLE_MAX || places > PLACES || dot === text.length - 1) return undefined
  if (text.charCodeAt(start) === ZERO_CODE && dot - start > 1) return undefined
  // Nineteen digits do not fit a binary float, so the two parts are read separately.
  const whole = digits(text, start, dot)
  const fraction = digits(text, dot + 1, text.length)
  if (whole < 0 || fraction < 0) return undefined
  const value = BigInt(whole) * ONE + BigInt(fraction) * (POWERS[PLACES - places] ?? 0n)
  return negative ? -value : value
}

/** The integer in the text; -1 if it is something else. */
function digits(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    if (code < ZERO_CODE || code > NINE_CODE) return -1
    value = value * 10 + code - ZERO_CODE
  }
  return value
}

/** @throws Malformed naming `what` unless `text` is a plain decimal above zero. */
export function positive(text: unknown, what: string): bigint {
  const value = readScaled(text)
  if (value === undefined || value <= 0n) throw new Malformed(what, 'a plain decimal above zero with at most nine places', text)
  return value
}

/** @throws Malformed naming `what` unless `text` is a plain decimal, zero or more. */
export function nonNegative(text: unknown, what: string): bigint {
  const value = readScaled(text)
  if (value === undefined || value < 0n) throw new Malformed(what, 'a plain decimal, zero or more, with at most nine places', text)
  return value
}

/** @throws Malformed naming `what` unless `text` is a plain decimal of either sign. */
export function signed(text: unknown, what: string): bigint {
  const value = readScaled(text)
  if (value === undefined) throw new Malformed(what, 'a plain decimal with at most nine places', text)
  return value
}

/** Billionths of the currency as money. */
export function toMoney(value: bigint): Money {
  return value * TO_MONEY
}

/** A price or quantity as text, without trailing zeros: `1.5`, `0`. */
export function formatScaled(value: bigint): string {
  if (value < 0n) return `-${formatScaled(-value)}`
  const whole = value / ONE
  const fraction = value - whole * ONE
  return fraction === 0n ? whole.toString() : `${whole}.${trimmed(fraction.toString().padStart(PLACES, '0'), 0)}`
}

/** Money as text, exact, at least two places: `-1.50`, `0.00`, `0.000000001`. */
export function formatMoney(value: Money): string {
  if (value < 0n) return `-${formatMoney(-value)}`
  const whole = value / MONEY_ONE
  const fraction = value - whole * MONEY_ONE
  return fraction === 0n ? `${whole}.00` : `${whole}.${trimmed(fraction.toString().padStart(MONEY_PLACES, '0'), 2)}`
}

/** Without the zeros at its end, except among the first so many characters. */
function trimmed(fraction: string, keep: number): string {
  let end = fraction.length
  while (end > keep && fraction.charCodeAt(end - 1) === ZERO_CODE) end--
  return fraction.slice(0, end)
}

/** Rounds half a cent up, or away from zero if negative. */
export function roundToCents(value: Money): Money {
  return value < 0n ? -roundToCents(-value) : ((value + CENT / 2n) / CENT) * CENT
}

/** Rounds up, for amounts that must suffice. Zero or more. */
export function ceilToCents(value: Money): Money {
  return ((value + CENT - 1n) / CENT) * CENT
}

/** `rate` ten-millionths of a value, rounded towards zero. */
export function feeOf(value: Money, rate: bigint): Money {
  return (value * rate) / FEE_UNIT
}

/** `bps` ten-thousandths of a value of zero or more, rounded up because margins must suffice. */
export function shareOf(value: Money, bps: bigint): Money {
  return (value * bps + BPS - 1n) / BPS
}

/** The quotient of two non-negative integers, rounded half up. */
export function divideHalfUp(a: bigint, b: bigint): bigint {
  return (a + b / 2n) / b
}

/** The quotient of any integer and a positive one, rounded up. */
export function divideUp(a: bigint, b: bigint): bigint {
  return a > 0n ? (a + b - 1n) / b : a / b
}

export function floorTo(value: bigint, step: bigint): bigint {
  return value - (value % step)
}

export function abs(value: bigint): bigint {
  return value < 0n ? -value : value
}

export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
