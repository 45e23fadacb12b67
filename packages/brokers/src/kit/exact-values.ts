/**
 * Numbers, times and symbols of market messages, whose fields are read by name for speed, in the core's texts. Pure; throws Malformed and
 * nothing else.
 */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { isNanos, isPlainDecimal, isPlainText } from '@trunkline/core/domain/fast/scan'
import { utcNanos } from '@trunkline/core/domain/fast/scan-time'
import { Malformed } from '@trunkline/core/domain/malformed'
import { msOfNanos, type Nanos } from '@trunkline/core/domain/market/records'
import { plainNumber } from './plain-number.ts'

const SYMBOL_MAX = 40

/**
 * A number as it was written (JSON), or as the shortest text that means it (MessagePack); what is smaller than a millionth comes with an
 * exponent, and goes without. @throws Malformed
 */
export function exact(value: unknown, what: string): Decimal {
  if (isPlainDecimal(value)) return value
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
  const plain = typeof text === 'string' ? plainNumber(text) : null
  if (plain !== null) return plain
  throw new Malformed(what, 'a number', value)
}

/** Null when it is null or left out. @throws Malformed */
export function exactOrNull(value: unknown, what: string): Decimal | null {
  return value === undefined || value === null ? null : exact(value, what)
}

/** @throws Malformed */
export function nanosOf(value: unknown, what: string): Nanos {
  // MessagePack has its own times, which its codec gives as nanoseconds.
  const nanos = typeof value === 'string' ? (utcNanos(value) ?? (isNanos(value) ? value : null)) : null
  if (nanos !== null) return nanos
  throw new Malformed(what, 'a time in UTC', value)
}

/** Milliseconds since the epoch. @throws Malformed */
export function utcMsOf(value: unknown, what: string): number {
  const nanos = typeof value === 'string' ? utcNanos(value) : null
  if (nanos !== null) return msOfNanos(nanos)
  throw new Malformed(what, 'a time in UTC', value)
}

/** @throws Malformed */
export function symbolIn(value: unknown, what: string, lengthMax = SYMBOL_MAX): string {
  if (typeof value === 'string' && value !== '' && isPlainText(value, lengthMax)) return value
  throw new Malformed(what, 'a symbol', value)
}
