/** Parsers for the fields of an operator's input, which arrives over a socket. Each throws Malformed naming the field. */
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { parseClientTime } from '../wire/client-time.ts'

/** The maximum length of a platform’s name, which users see. */
export const NAME_LENGTH_MAX = 100
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Printable text of 1 to `lengthMax` characters. */
export function printable(value: unknown, what: string, lengthMax: number): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= lengthMax && !UNPRINTABLE.test(value)) return value
  throw new Malformed(what, `1 to ${lengthMax} printable characters`, value)
}

export function field(input: unknown, name: string): unknown {
  return typeof input === 'object' && input !== null && Object.hasOwn(input, name) ? Reflect.get(input, name) : undefined
}

export function texts(value: unknown, what: string, max: number): readonly string[] {
  if (Array.isArray(value) && value.length <= max) return value.map(item => printable(item, what, 64))
  throw new Malformed(what, `at most ${max} of them`, value)
}

export function timeOrNull(value: unknown): Timestamp | null {
  return value === null || value === undefined ? null : parseClientTime(value, 'expires')
}

export function oneOf<const Value extends string>(value: unknown, what: string, values: readonly Value[]): Value {
  const found = values.find(known => known === value)
  if (found === undefined) throw new Malformed(what, `one of ${values.join(', ')}`, value)
  return found
}

export function whole(value: unknown, what: string, min: number, max: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value
  throw new Malformed(what, `a whole number from ${min} to ${max}`, value)
}

export function orNull<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === null || value === undefined ? null : read(value)
}

export function uuid(value: unknown, what: string): string {
  if (typeof value === 'string' && UUID.test(value)) return value
  throw new Malformed(what, 'an id as in the API', value)
}

export function yesOrNo(value: unknown, what: string): boolean {
  if (typeof value === 'boolean') return value
  throw new Malformed(what, 'true or false', value)
}
