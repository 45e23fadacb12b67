/** Small readers and writers of JSON. Written values are read back exactly; anything else is refused by name. */
import { Malformed } from '@trunkline/core/domain/malformed'

export type Json = string | number | boolean | null | readonly Json[]

export interface Codec<T> {
  readonly write: (value: T) => Json
  /** @throws Malformed naming `what`. */
  readonly read: (json: unknown, what: string) => T
}

export const text: Codec<string> = {
  write: value => value,
  read: (json, what) => (typeof json === 'string' ? json : bad(what, 'a text', json))
}

export const number: Codec<number> = {
  write: value => value,
  read: (json, what) => (typeof json === 'number' && Number.isFinite(json) ? json : bad(what, 'a number', json))
}

export const flag: Codec<boolean> = {
  write: value => value,
  read: (json, what) => (typeof json === 'boolean' ? json : bad(what, 'true or false', json))
}

const INTEGER = /^-?\d+$/

export const integer: Codec<bigint> = {
  write: value => value.toString(),
  read: (json, what) => (typeof json === 'string' && INTEGER.test(json) ? BigInt(json) : bad(what, 'an integer as text', json))
}

export function oneOf<const T extends string>(values: readonly T[]): Codec<T> {
  return {
    write: value => value,
    read: (json, what) => values.find(known => known === json) ?? bad(what, `one of ${values.join(', ')}`, json)
  }
}

export function nullable<T>(codec: Codec<T>): Codec<T | null> {
  return {
    write: value => (value === null ? null : codec.write(value)),
    read: (json, what) => (json === null ? null : codec.read(json, what))
  }
}

export function list<T>(codec: Codec<T>): Codec<T[]> {
  return {
    write: values => values.map(codec.write),
    read: (json, what) => (Array.isArray(json) ? json.map((item: unknown) => codec.read(item, what)) : bad(what, 'a list', json))
  }
}

type Fields<T> = { readonly [K in keyof T]-?: Codec<T[K]> }

/**
 * A record as a list of its fields, in the given order: half the size of an object, and a forgotten field does not compile. `since` has the
 * defaults of fields that were later added at the end, for lists written before.
 */
export function record<T extends object>(what: string, fields: Fields<T>, since: Partial<T> = {}): Codec<T> {
  const names = Object.keys(fields) as (keyof T & string)[]
  const fewest = names.length - Object.keys(since).length
  return {
    write: value => names.map(name => fields[name].write(value[name])),
    read: json => {
      if (!Array.isArray(json) || json.length > names.length || json.length < fewest)
        return bad(what, `a list of ${names.length} fields`, json)
      const items: readonly unknown[] = json
      const read = names.slice(0, items.length).map((name, at) => [name, fields[name].read(items[at], `${what}.${name}`)])
      return { ...since, ...Object.fromEntries(read) } as T
    }
  }
}

function bad(what: string, expected: string, found: unknown): never {
  throw new Malformed(what, expected, found)
}
