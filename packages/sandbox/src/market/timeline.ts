/** A value that changes at known instants and can be read for any. */
import type { Micros } from '../engine/types.ts'

/** Changes remembered; beyond that the oldest is forgotten, and the value after it applies before it too. */
const CHANGES_MAX = 1_000

export class Timeline<Value> {
  readonly #initial: Value
  readonly #at: Micros[] = []
  readonly #values: Value[] = []
  #forgotten: Value | null = null

  constructor(initial: Value) {
    this.#initial = initial
  }

  /** Sets the value from `at` on. Changes come in time order; one at the same instant as the last replaces it. */
  set(at: Micros, value: Value): void {
    const last = this.#at.length - 1
    if (last >= 0 && at <= (this.#at[last] ?? at)) {
      this.#values[last] = value
      return
    }
    this.#at.push(at)
    this.#values.push(value)
    if (this.#at.length <= CHANGES_MAX) return
    this.#at.shift()
    this.#forgotten = this.#values.shift() ?? null
  }

  valueAt(at: Micros): Value {
    // Nearly all reads are of the present, so the search begins at the end.
    for (let index = this.#at.length - 1; index >= 0; index--) {
      const value = this.#values[index]
      if (value !== undefined && (this.#at[index] ?? at) <= at) return value
    }
    return this.#forgotten ?? this.#initial
  }

  /** Whether it changes at or after `from` and before `to`. */
  changesWithin(from: Micros, to: Micros): boolean {
    for (let index = this.#at.length - 1; index >= 0; index--) {
      const at = this.#at[index] ?? from
      if (at < from) return false
      if (at < to) return true
    }
    return false
  }

  /** The instant of the first change after `at`, or null. */
  nextChange(at: Micros): Micros | null {
    return this.#at.find(change => change > at) ?? null
  }
}
