/** Reads fields of a broker's messages. Every helper throws only {@link Malformed}, which names the field. */

import { type Decimal, parseDecimal } from '@trunkline/core/domain/decimal'
import { wholeNumber } from '@trunkline/core/domain/fast/scan'
import { utcTime } from '@trunkline/core/domain/fast/scan-time'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type Day, parseDay, parseTimestamp, type Timestamp } from '@trunkline/core/domain/timestamp'
import { plainNumber } from './plain-number.ts'

/** An object as received. */
export type Wire = Readonly<Record<string, unknown>>

/** An enum value that a table does not have, in a field that must not be guessed. */
export class UnknownValueError extends Malformed {
  readonly value: string

  constructor(what: string, table: Readonly<Record<string, unknown>>, value: string) {
    super(what, `one of ${Object.keys(table).join(', ')}`, value)
    this.value = value
  }
}

const TEXT_MAX = 1_024
const LIST_MAX = 100_000
const TEXTS_MAX = 10_000

export function object(value: unknown, what: string): Wire {
  if (isWire(value)) return value
  throw new Malformed(what, 'an object', value)
}

function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A field of the object itself, never of its prototype; undefined when absent. */
export function field(wire: Wire, key: string): unknown {
  const value = wire[key]
  // An object inherits only functions, which no message contains, and `__proto__`. An own-property check costs more.
  return typeof value === 'function' || key === '__proto__' ? undefined : value
}

export function nested(wire: Wire, key: string): Wire {
  return object(field(wire, key), key)
}

/** Null when the field is null or absent. */
export function nestedOrNull(wire: Wire, key: string): Wire | null {
  return orNull(wire, key, nested)
}

/** A non-empty string of at most `lengthMax` characters. */
export function text(wire: Wire, key: string, lengthMax = TEXT_MAX): string {
  const value = field(wire, key)
  if (typeof value === 'string' && value !== '' && value.length <= lengthMax) return value
  throw new Malformed(key, `a text of 1 to ${lengthMax} characters`, value)
}

export function textOrNull(wire: Wire, key: string): string | null {
  return orNull(wire, key, text)
}

/** Display text: null if empty or missing, and cut if too long, because nothing depends on it. */
export function displayTextOrNull(wire: Wire, key: string, lengthMax = 500): string | null {
  const value = field(wire, key)
  return typeof value === 'string' && value !== '' ? value.slice(0, lengthMax) : null
}

/**
 * A decimal with the digits that the broker wrote; only an exponent and the sign of a zero are normalized. A JSON number is refused,
 * because it is a binary float by now.
 */
export function decimal(wire: Wire, key: string): Decimal {
  const value = field(wire, key)
  return (typeof value === 'string' ? plainNumber(value) : null) ?? parseDecimal(value, key)
}

export function decimalOrNull(wire: Wire, key: string): Decimal | null {
  return orNull(wire, key, decimal)
}

/** A count, from a JSON number or its digits. */
export function integer(wire: Wire, key: string): number {
  const value = field(wire, key)
  const number = typeof value === 'string' ? wholeNumber(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  throw new Malformed(key, 'an integer', value)
}

/**
 * The core's value for a broker's value. For values that money depends on. @throws UnknownValueError for a string that the table does not
 * have.
 */
export function member<T>(wire: Wire, key: string, table: Readonly<Record<string, T>>): T {
  const value = field(wire, key)
  const found = lookUp(table, value)
  if (found !== undefined) return found
  if (typeof value === 'string' && value !== '') throw new UnknownValueError(key, table, value)
  throw new Malformed(key, `one of ${Object.keys(table).join(', ')}`, value)
}

/** As {@link member}, but an unknown value becomes `other`. For descriptive values. */
export function memberOr<T>(wire: Wire, key: string, table: Readonly<Record<string, T>>, other: T): T {
  return lookUp(table, field(wire, key)) ?? other
}

/** The table's own entry, never an inherited one. */
export function lookUp<T>(table: Readonly<Record<string, T>>, value: unknown): T | undefined {
  return typeof value === 'string' && Object.hasOwn(table, value) ? table[value] : undefined
}

export function timestamp(wire: Wire, key: string): Timestamp {
  const value = field(wire, key)
  return (typeof value === 'string' ? utcTime(value) : null) ?? parseTimestamp(value, key)
}

export function timestampOrNull(wire: Wire, key: string): Timestamp | null {
  return orNull(wire, key, timestamp)
}

export function day(wire: Wire, key: string): Day {
  return parseDay(field(wire, key), key)
}

export function dayOrNull(wire: Wire, key: string): Day | null {
  return orNull(wire, key, day)
}

/** Of an answer that names what we sent. @throws Malformed if it is something else */
export function demandOurs(what: string, found: string | null, sent: string | null): void {
  if (found !== sent) throw new Malformed(what, `our own, ${sent}`, found)
}

/** One unreadable item makes the whole list unreadable. */
export function list<T>(wire: Wire, key: string, item: (wire: Wire) => T): readonly T[] {
  return items(field(wire, key), key, item)
}

/** As {@link list}, for an answer that is itself a list. */
export function items<T>(value: unknown, what: string, item: (wire: Wire) => T): readonly T[] {
  if (!Array.isArray(value) || value.length > LIST_MAX) throw new Malformed(what, `a list of at most ${LIST_MAX}`, value)
  return value.map((entry, index) => item(object(entry, `${what}[${index}]`)))
}

/** The records of a list, unread. What is no object becomes a record without fields, so that it spoils no other. */
export function records(value: unknown, what: string): readonly Wire[] {
  if (!Array.isArray(value) || value.length > LIST_MAX) throw new Malformed(what, `a list of at most ${LIST_MAX}`, value)
  return value.map(entry => (isWire(entry) ? entry : {}))
}

/** A list of strings. */
export function texts(wire: Wire, key: string): readonly string[] {
  const value = field(wire, key)
  if (Array.isArray(value) && value.length <= TEXTS_MAX && value.every(item => typeof item === 'string')) return value
  throw new Malformed(key, 'a list of strings', value)
}

function orNull<T>(wire: Wire, key: string, read: (wire: Wire, key: string) => T): T | null {
  const value = field(wire, key)
  return value === undefined || value === null ? null : read(wire, key)
}
