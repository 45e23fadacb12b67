// Chance that can be had again: the same seed gives the same choices.

export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Chance of its own for one part, so that what one part asks for does not change what another is given. */
  apart(name: string): Chance {
    let hash = 0x811c9dc5 ^ this.#state
    // FNV-1a
    for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
    return new Chance(hash)
  }

  /** In [0, 1). */
  fraction(): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1))
  }

  happens(probability: number): boolean {
    return this.fraction() < probability
  }

  /** Undefined when there is nothing to choose from. */
  oneOf<T>(items: readonly T[]): T | undefined {
    return items[this.whole(0, items.length - 1)]
  }

  /** One of the keys, by weight. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
    const entries = Object.entries<number>(weights)
    let left = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [key, weight] of entries) {
      left -= weight
      if (left < 0 && isKey(weights, key)) return key
    }
    throw new Error('nothing has any weight')
  }
}

function isKey<Key extends string>(weights: Readonly<Record<Key, number>>, key: string): key is Key {
  return key in weights
}
