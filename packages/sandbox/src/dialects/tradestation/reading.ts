/** Reads what clients send, loosely as TradeStation does: unknown fields are ignored. */

import { type Decimal, isDecimal } from '@trunkline/core/domain/decimal'
import { shown } from '@trunkline/core/domain/malformed'
import { Problem } from '../frame/brokerage.ts'

/** One object of a request. Every reader throws a `bad_request` problem that names the field. */
export class Body {
  readonly #value: object

  constructor(value: unknown, what = 'The request') {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) bad(`${what} must be a JSON object`)
    this.#value = value
  }

  get isEmpty(): boolean {
    return Object.values(this.#value).every(value => value === null || (Array.isArray(value) && value.length === 0))
  }

  has(name: string): boolean {
    const value = this.#get(name)
    return value !== undefined && value !== null
  }

  text(name: string): string {
    return this.textOr(name) ?? bad(`${name} is required`)
  }

  textOr(name: string): string | null {
    const value = this.#get(name)
    if (value === undefined || value === null) return null
    return typeof value === 'string' ? value : bad(`${name} must be a string, was ${shown(value)}`)
  }

  decimalOr(name: string): Decimal | null {
    const text = this.textOr(name)
    if (text === null) return null
    return isDecimal(text) ? text : bad(`${name} must be a number in a string, was ${shown(text)}`)
  }

  member<const Value extends string>(name: string, values: readonly Value[]): Value {
    const text = this.text(name)
    return (
      values.find(value => value.toUpperCase() === text.toUpperCase()) ??
      bad(`${name} must be one of ${values.join(', ')}, was ${shown(text)}`)
    )
  }

  body(name: string): Body {
    return new Body(this.#get(name), name)
  }

  /** Empty where there is none. */
  bodies(name: string): readonly Body[] {
    const value = this.#get(name)
    if (value === undefined || value === null) return []
    return Array.isArray(value) ? value.map(item => new Body(item, `An element of ${name}`)) : bad(`${name} must be a list`)
  }

  #get(name: string): unknown {
    return Reflect.get(this.#value, name)
  }
}

/** A whole number of a query. @throws Problem `bad_request` */
export function countOr(text: string | undefined, name: string, least: number, most: number): number | null {
  if (text === undefined || text === '') return null
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  return count >= least && count <= most ? count : bad(`${name} must be a whole number from ${least} to ${most}, was ${shown(text)}`)
}

export function bad(message: string): never {
  throw new Problem('bad_request', message)
}

/** For what can be read and is not taken. */
export function refuse(message: string): never {
  throw new Problem('refused_by_operator', message)
}
