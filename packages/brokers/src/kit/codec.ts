/** Codecs of a broker's messages: records by field, and enums in both directions. Readers throw only Malformed. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { Wire } from './parse.ts'
import { member } from './parse.ts'

export type FieldReader<T> = (wire: Wire) => T

/** Reads an object field by field: `record({ quantity: amount('qty') })`. */
export function record<T extends object>(fields: { readonly [Name in keyof T]: FieldReader<T[Name]> }): FieldReader<T> {
  const readers = Object.entries<FieldReader<unknown>>(fields)
  return wire => {
    const made: Record<string, unknown> = {}
    for (const [name, read] of readers) made[name] = read(wire)
    return made as T
  }
}

/** A field that is the same in every record. */
export function always<T>(value: T): FieldReader<T> {
  return () => value
}

/** A field by its key: `of(decimal)('qty')`. */
export function of<T>(read: (wire: Wire, key: string) => T): (key: string) => FieldReader<T> {
  return key => wire => read(wire, key)
}

/** An enum of the broker. Of several of its values with the same meaning the first is sent. */
export interface EnumCodec<T extends string> {
  /** @throws UnknownValueError for a value that is not in the table */
  read(wire: Wire, key: string): T
  /** `what` is our name of the field. @throws Malformed for a value that the broker does not have */
  write(value: string, what: string): string
  readonly table: Readonly<Record<string, T>>
}

export function enumCodec<const T extends string>(table: Readonly<Record<string, T>>): EnumCodec<T> {
  return {
    table,
    read: (wire, key) => member(wire, key, table),
    write(value, what) {
      const found = Object.keys(table).find(key => table[key] === value)
      if (found !== undefined) return found
      throw new Malformed(what, `one of ${[...new Set(Object.values(table))].join(', ')}`, value)
    }
  }
}

/** A table by our values: each with the broker's values of that meaning, separated by spaces. */
export function tableOf<const T extends string>(values: { readonly [ours in T]: string }): Readonly<Record<string, T>> {
  const table: Record<string, T> = {}
  for (const ours in values) for (const theirs of values[ours].split(/\s+/)) table[theirs] = ours
  return table
}
