/** Reading what clients send as Alpaca reads it: texts or numbers, unknown fields ignored, the first error reported. */

import { type Decimal, isDecimal } from '@trunkline/core/domain/decimal'
import { shown } from '@trunkline/core/domain/malformed'
import { badParameter, invalid } from './problems.ts'

export class Body {
  readonly #values: Readonly<Record<string, unknown>>

  /** @throws AlpacaProblem unless `value` is an object; an absent one has no fields */
  constructor(value: unknown) {
    if (value !== undefined && value !== null && (typeof value !== 'object' || Array.isArray(value)))
      throw badParameter('request body format is invalid')
    this.#values = { ...value }
  }

  text(name: string): string | null {
    const value = this.#values[name]
    if (value === undefined || value === null || value === '') return null
    if (typeof value === 'string') return value
    if (typeof value === 'number') return String(value)
    throw badParameter(`invalid ${name}: ${shown(value)}`)
  }

  decimal(name: string): Decimal | null {
    const text = this.text(name)
    if (text === null || isDecimal(text)) return text
    throw invalid(`${name} must be a decimal, was ${shown(text)}`)
  }

  member<const Value extends string>(name: string, values: readonly Value[]): Value {
    return this.memberOr(name, values) ?? fail(`${name} is required`)
  }

  memberOr<const Value extends string>(name: string, values: readonly Value[]): Value | null {
    const text = this.text(name)
    if (text === null) return null
    return values.find(value => value === text) ?? fail(`invalid ${name}: ${shown(text)}`)
  }

  flag(name: string): boolean {
    const value = this.#values[name] ?? false
    if (typeof value === 'boolean') return value
    if (value === 'true' || value === 'false') return value === 'true'
    throw badParameter(`invalid ${name}: ${shown(value)}`)
  }

  count(name: string, { least, most, fallback }: { readonly least: number; readonly most: number; readonly fallback: number }): number {
    const text = this.text(name)
    if (text === null) return fallback
    const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (count >= least && count <= most) return count
    throw badParameter(`invalid ${name}: an integer from ${least} to ${most} is due, was ${shown(text)}`)
  }

  /** Texts separated by commas; null when absent. */
  list(name: string): readonly string[] | null {
    const items = this.text(name)
      ?.split(',')
      .map(item => item.trim())
    return items?.filter(item => item !== '') ?? null
  }

  items(name: string): readonly unknown[] | null {
    const value = this.#values[name] ?? null
    if (value === null || Array.isArray(value)) return value
    throw badParameter(`invalid ${name}: ${shown(value)}`)
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined && this.#values[name] !== null
  }
}

function fail(message: string): never {
  throw badParameter(message)
}
