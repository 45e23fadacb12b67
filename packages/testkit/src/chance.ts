/** Reproducible random choices: the same seed gives the same choices. */
export class SeededChance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** The state of the generator. */
  protected get state(): number {
    return this.#state
  }

  /** In [0, 1). Bound, so that it can be passed as a function. */
  readonly fraction = (): number => {
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

  /** The items in random order. */
  shuffled<T>(items: readonly T[]): readonly T[] {
    return items
      .map(item => ({ item, rank: this.fraction() }))
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ item }) => item)
  }

  /** Undefined if there is nothing to choose from. */
  oneOf<T>(items: readonly T[]): T | undefined {
    return items[this.whole(0, items.length - 1)]
  }
}
