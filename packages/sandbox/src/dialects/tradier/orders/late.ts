/** Orders that are filled already and whose prices are not known to REST yet, for a moment of real time. */

import { createHash } from 'node:crypto'

export interface LateDeps {
  readonly seed: string
  readonly share: number
  /** Real milliseconds. */
  readonly ms: number
  /** Runs work after so many real milliseconds. */
  readonly later: (ms: number, work: () => void) => void
}

/** What is missing: the prices alone, or the quantity too. */
export type Missing = 'price' | 'price and quantity'

export class Late {
  readonly #deps: LateDeps
  readonly #missing = new Map<string, Missing>()

  constructor(deps: LateDeps) {
    this.#deps = deps
  }

  /** An order has just been filled to its end. */
  filled(orderId: string): void {
    const { seed, share, ms, later } = this.#deps
    const drawn = chance(`${seed} late ${orderId}`)
    if (ms === 0 || drawn >= share) return
    this.#missing.set(orderId, drawn * 2 < share ? 'price' : 'price and quantity')
    later(ms, () => this.#missing.delete(orderId))
  }

  of(orderId: string): Missing | null {
    return this.#missing.get(orderId) ?? null
  }
}

/** From 0 to 1, the same for the same text. */
export function chance(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32
}
