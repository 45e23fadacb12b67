/** The figures of an option's day so far. */
import type { Micros } from '../../engine/types.ts'

export interface OptionPrint {
  readonly at: Micros
  readonly cents: number
  readonly size: number
}

export class OptionDay {
  readonly start: Micros
  #through: Micros
  #open: number | null = null
  #high: number | null = null
  #low: number | null = null
  #last: number | null = null
  #volume = 0

  constructor(start: Micros) {
    this.start = start
    this.#through = start - 1
  }

  /** Prints up to and including this instant are included. */
  get through(): Micros {
    return this.#through
  }

  get open(): number | null {
    return this.#open
  }

  get high(): number | null {
    return this.#high
  }

  get low(): number | null {
    return this.#low
  }

  get last(): number | null {
    return this.#last
  }

  get volume(): number {
    return this.#volume
  }

  /** The prints after {@link through} up to and including `until`, ascending. */
  add(prints: readonly OptionPrint[], until: Micros): void {
    for (const { cents, size } of prints) {
      this.#open ??= cents
      this.#high = Math.max(this.#high ?? cents, cents)
      this.#low = Math.min(this.#low ?? cents, cents)
      this.#last = cents
      this.#volume += size
    }
    this.#through = until
  }
}
