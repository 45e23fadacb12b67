/** Strict readers of client input: every field is named and checked, and unknown fields are refused. */

import { type Decimal, isDecimal } from '@trunkline/core/domain/decimal'
import { shown } from '@trunkline/core/domain/malformed'
import type { Micros } from '../engine/types.ts'
import { microsOf } from './clock.ts'
import { Problem } from './problems.ts'

/** The fields of one object. Every reader throws a `bad_request` problem with the field's name, what was expected and what was found. */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>

  /** @throws Problem unless `value` is an object without fields outside `known`. An absent value has no fields. */
  constructor(value: unknown, known: readonly string[]) {
    this.#values = value === undefined || value === null ? {} : record(value)
    for (const name of Object.keys(this.#values)) {
      if (!known.includes(name)) bad(name, `is unknown; the known fields are ${known.join(', ')}`)
    }
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined && this.#values[name] !== null
  }

  text(name: string): string {
    return this.textOr(name) ?? bad(name, 'is missing')
  }

  /** null if absent or null, as in all readers that end in `Or`. */
  textOr(name: string): string | null {
    if (!this.has(name)) return null
    const value = this.#values[name]
    return typeof value === 'string' ? value : bad(name, `must be a text, was ${shown(value)}`)
  }

  /** A printable text of 1 to `most` characters. */
  nameOr(name: string, most: number): string | null {
    const text = this.textOr(name)
    if (text === null || (text.length >= 1 && text.length <= most && /^[\x20-\x7e]+$/.test(text))) return text
    return bad(name, `must be 1 to ${most} printable ASCII characters, was ${shown(text)}`)
  }

  /** 1 to `most` characters, none of them a control character. */
  titleOr(name: string, most: number): string | null {
    const text = this.textOr(name)
    if (text === null || (/^\P{C}+$/u.test(text) && [...text].length <= most)) return text
    return bad(name, `must be 1 to ${most} characters without control characters, was ${shown(text)}`)
  }

  decimalOr(name: string): Decimal | null {
    if (!this.has(name)) return null
    const value = this.#values[name]
    return isDecimal(value) ? value : bad(name, `must be a plain decimal in a text such as "10.50", was ${shown(value)}`)
  }

  member<const Value extends string>(name: string, values: readonly Value[]): Value {
    return this.memberOr(name, values) ?? bad(name, `is missing; it is one of ${values.join(', ')}`)
  }

  memberOr<const Value extends string>(name: string, values: readonly Value[]): Value | null {
    const text = this.textOr(name)
    if (text === null) return null
    return values.find(value => value === text) ?? bad(name, `must be one of ${values.join(', ')}, was ${shown(text)}`)
  }

  flagOr(name: string): boolean | null {
    if (!this.has(name)) return null
    const value = this.#values[name]
    return typeof value === 'boolean' ? value : bad(name, `must be true or false, was ${shown(value)}`)
  }

  /** A JSON integer, or its digits in a query. */
  countOr(name: string, least: number, most: number): number | null {
    if (!this.has(name)) return null
    const value = this.#values[name]
    const count = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value
    if (typeof count === 'number' && Number.isInteger(count) && count >= least && count <= most) return count
    return bad(name, `must be an integer from ${least} to ${most}, was ${shown(value)}`)
  }

  timeOr(name: string): Micros | null {
    const text = this.textOr(name)
    return text === null ? null : (microsOf(text) ?? bad(name, `must be an ISO 8601 time with an offset, was ${shown(text)}`))
  }

  dateOr(name: string): string | null {
    const text = this.textOr(name)
    return text === null || isDate(text) ? text : bad(name, `must be a date YYYY-MM-DD, was ${shown(text)}`)
  }

  listOr(name: string): readonly unknown[] | null {
    if (!this.has(name)) return null
    const value = this.#values[name]
    return Array.isArray(value) ? value : bad(name, `must be a list, was ${shown(value)}`)
  }
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  try {
    return Temporal.PlainDate.from(text, { overflow: 'reject' }).toString() === text
  } catch {
    return false
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Readonly<Record<string, unknown>>
  throw new Problem('bad_request', `expected a JSON object, was ${shown(value)}`)
}

function bad(field: string, what: string): never {
  throw new Problem('bad_request', `${field} ${what}`, { field })
}
