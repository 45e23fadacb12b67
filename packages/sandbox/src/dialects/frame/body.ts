/** Reads what clients send as brokers do: unknown fields are ignored, and the first error is reported in the broker's own way. */

import { type Decimal, isDecimal } from '@trunkline/core/domain/decimal'

/** What differs between brokers. */
export interface Reading {
  /** Reports an error; `name` is empty for what is no object. @throws Problem */
  readonly bad: (name: string, expected: string, found: unknown) => never
  /** JSON numbers are taken where texts are due. */
  readonly takesNumbers: boolean
  /** Enum values are taken in capitals or not. */
  readonly ignoresCase: boolean
}

/** One object of a request. All readers throw what `bad` throws; those that end in `Or` give null for what is absent, null or empty. */
export class Body {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #reading: Reading

  /** An absent value has no fields. */
  constructor(value: unknown, reading: Reading, name = '') {
    if (value !== undefined && value !== null && (typeof value !== 'object' || Array.isArray(value)))
      reading.bad(name, 'must be a JSON object', value)
    this.#values = { ...value }
    this.#reading = reading
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined && this.#values[name] !== null
  }

  text(name: string): string {
    return this.textOr(name) ?? this.#bad(name, 'is required')
  }

  textOr(name: string): string | null {
    const value = this.#values[name] ?? ''
    if (typeof value === 'string') return value === '' ? null : value
    return typeof value === 'number' && this.#reading.takesNumbers ? String(value) : this.#bad(name, 'must be a string')
  }

  decimalOr(name: string): Decimal | null {
    return this.readOr(name, 'must be a number', text => (isDecimal(text) ? text : undefined))
  }

  countOr(name: string, least: number, most: number): number | null {
    const read = (text: string) => (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined)
    return this.readOr(name, `must be a whole number from ${least} to ${most}`, read)
  }

  member<const Value extends string>(name: string, values: readonly Value[]): Value {
    return this.memberOr(name, values) ?? this.#bad(name, 'is required')
  }

  memberOr<const Value extends string>(name: string, values: readonly Value[]): Value | null {
    const form = (text: string) => (this.#reading.ignoresCase ? text.toUpperCase() : text)
    return this.readOr(name, `must be one of ${values.join(', ')}`, text => values.find(value => form(value) === form(text)))
  }

  /** Texts separated by commas. */
  listOr(name: string): readonly string[] | null {
    return (
      this.textOr(name)
        ?.split(',')
        .filter(item => item !== '') ?? null
    )
  }

  flag(name: string): boolean {
    const value = this.#values[name] ?? false
    return typeof value === 'boolean' ? value : this.#bad(name, 'must be true or false')
  }

  body(name: string): Body {
    return new Body(this.#values[name], this.#reading, name)
  }

  /** Empty where there is none. */
  bodies(name: string): readonly Body[] {
    const value = this.#values[name] ?? []
    return Array.isArray(value) ? value.map(item => new Body(item, this.#reading, name)) : this.#bad(name, 'must be a list')
  }

  /** `read` gives undefined for what it cannot read. */
  readOr<Value>(name: string, expected: string, read: (text: string) => Value | undefined): Value | null {
    const text = this.textOr(name)
    return text === null ? null : (read(text) ?? this.#bad(name, expected))
  }

  #bad(name: string, expected: string): never {
    return this.#reading.bad(name, expected, this.#values[name])
  }
}
