/** Reading what clients send as Alpaca reads it: texts or numbers, unknown fields ignored, the first error reported. */

import { type Decimal, isDecimal } from '@trunkline/core/domain/decimal'
import { shown } from '@trunkline/core/domain/malformed'
import type { Micros } from '../frame/brokerage.ts'
import { badParameter } from './answers.ts'
import { instantOf } from './values.ts'

export class Body {
  readonly #values: Readonly<Record<string, unknown>>

  /** @throws AlpacaProblem unless `value` is an object; an absent one has no fields */
  constructor(value: unknown) {
    if (value !== undefined && value !== null && (typeof value !== 'object' || Array.isArray(value)))
      throw badParameter('request body format is invalid')
    this.#values = { ...value }
  }

  /** Null where there is none, as in all readers but {@link member}. */
  text(name: string): string | null {
    const value = this.#values[name] ?? ''
    if (typeof value === 'string') return value === '' ? null : value
    return typeof value === 'number' ? String(value) : this.#bad(name)
  }

  decimal(name: string): Decimal | null {
    return this.#read(name, text => (isDecimal(text) ? text : undefined))
  }

  instant(name: string): Micros | null {
    return this.#read(name, instantOf)
  }

  memberOr<const Value extends string>(name: string, values: readonly Value[]): Value | null {
    return this.#read(name, text => values.find(value => value === text))
  }

  member<const Value extends string>(name: string, values: readonly Value[]): Value {
    return this.memberOr(name, values) ?? this.#bad(name)
  }

  count(name: string, { most, fallback }: { readonly most: number; readonly fallback: number }): number {
    const isDue = (count: number) => count >= 1 && count <= most
    return this.#read(name, text => (/^\d{1,9}$/.test(text) && isDue(Number(text)) ? Number(text) : undefined)) ?? fallback
  }

  /** Texts separated by commas. */
  list(name: string): readonly string[] | null {
    return (
      this.text(name)
        ?.split(',')
        .filter(item => item !== '') ?? null
    )
  }

  items(name: string): readonly unknown[] {
    const value = this.#values[name] ?? []
    return Array.isArray(value) ? value : this.#bad(name)
  }

  flag(name: string): boolean {
    const value = this.#values[name] ?? false
    return typeof value === 'boolean' ? value : this.#bad(name)
  }

  #read<Value>(name: string, read: (text: string) => Value | undefined): Value | null {
    const text = this.text(name)
    return text === null ? null : (read(text) ?? this.#bad(name))
  }

  #bad(name: string): never {
    throw badParameter(`invalid ${name}: ${shown(this.#values[name])}`)
  }
}
