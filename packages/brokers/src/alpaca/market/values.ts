/** Numbers, times and symbols of market data in the core's texts. Pure; throws Malformed and nothing else. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type Nanos, parseNanos } from '@trunkline/core/domain/market/records'
import { isNanos, isPlainDecimal, isPlainText } from '../../kit/scan.ts'

const SYMBOL_MAX = 40
const VENUE_MAX = 16
/** Alpaca writes what is smaller than a millionth with an exponent. */
const SCIENTIFIC = /^(-?)(\d)(?:\.(\d{1,20}))?[eE]([+-]?\d{1,2})$/

/** A number as it was written (JSON), or as the shortest text that means it (MessagePack). @throws Malformed */
export function exact(value: unknown, what: string): Decimal {
  if (isPlainDecimal(value)) return value
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
  const plain = typeof text === 'string' ? expanded(text) : text
  if (isPlainDecimal(plain)) return plain
  throw new Malformed(what, 'a number', value)
}

/** Null when it is null or left out. @throws Malformed */
export function exactOrNull(value: unknown, what: string): Decimal | null {
  return value === undefined || value === null ? null : exact(value, what)
}

/** `1.5e-7` → `0.00000015`; anything else as it is. */
function expanded(text: string): string {
  const [, sign, first, rest = '', power] = SCIENTIFIC.exec(text) ?? []
  if (sign === undefined || first === undefined || power === undefined) return text === '-0' ? '0' : text
  const digits = first + rest
  const point = 1 + Number(power)
  const padded = point > 0 ? digits.padEnd(point, '0') : '0'.repeat(1 - point) + digits
  const at = Math.max(point, 1)
  const whole = padded.slice(0, at).replace(/^0+(?=\d)/, '')
  const fraction = padded.slice(at).replace(/0+$/, '')
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

const UTC_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/

/** @throws Malformed */
export function nanosOf(value: unknown, what: string): Nanos {
  if (typeof value === 'string') {
    const [, seconds, fraction = ''] = UTC_TIME.exec(value) ?? []
    const ms = seconds === undefined ? Number.NaN : Date.parse(`${seconds}Z`)
    if (ms >= 0) return parseNanos(`${ms / 1_000}${fraction.padEnd(9, '0')}`, what)
    // MessagePack has times of its own, which its codec gives as nanoseconds.
    if (isNanos(value)) return value
  }
  throw new Malformed(what, 'a time in UTC', value)
}

/** Milliseconds since the epoch. @throws Malformed */
export function msOf(value: unknown, what: string): number {
  const ms = typeof value === 'string' && UTC_TIME.test(value) ? Date.parse(value) : Number.NaN
  if (ms >= 0) return ms
  throw new Malformed(what, 'a time in UTC', value)
}

/** @throws Malformed */
export function symbolIn(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '' && isPlainText(value, SYMBOL_MAX)) return value
  throw new Malformed(what, 'a symbol', value)
}

/** A venue only describes: one that could not be written down as it is becomes an unknown one. */
export function venueOf(value: unknown): string {
  return typeof value === 'string' && isPlainText(value, VENUE_MAX) ? value : ''
}
