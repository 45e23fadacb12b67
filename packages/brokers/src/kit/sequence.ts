/** Orders numbered messages: drops duplicates, repairs small disorder, reports gaps. */

/** The result of a message. `hole`: a message before these items will not come any more. */
export interface Sequenced<T> {
  readonly items: readonly T[]
  readonly hasGap: boolean
}

const NOTHING = { items: [], hasGap: false } as const

export class Sequence<T> {
  readonly #aheadMax: number
  #ahead: Map<number, T> | null = null
  #last: number

  /** `last` is the number before the first expected message; at most `aheadMax` messages wait for a missing one. */
  constructor(last: number, aheadMax: number) {
    this.#last = last
    this.#aheadMax = aheadMax
  }

  /** The number up to which everything has been released. */
  get last(): number {
    return this.#last
  }

  offer(number: number, item: T): Sequenced<T> {
    if (number <= this.#last || this.#ahead?.has(number) === true) return NOTHING
    if (number === this.#last + 1 && this.#ahead === null) {
      this.#last = number
      return { items: [item], hasGap: false }
    }
    this.#ahead ??= new Map()
    this.#ahead.set(number, item)
    const items = this.#inOrder(this.#ahead)
    return items.length === 0 && this.#ahead !== null && this.#ahead.size > this.#aheadMax
      ? this.settle(this.#last)
      : { items, hasGap: false }
  }

  /** The other side reports that it has sent everything up to `number`: a message that is missing now will not come. */
  settle(number: number): Sequenced<T> {
    if (number <= this.#last && this.#ahead === null) return NOTHING
    const held = [...(this.#ahead ?? [])].sort(([a], [b]) => a - b)
    this.#ahead = null
    this.#last = Math.max(this.#last, number, held.at(-1)?.[0] ?? 0)
    return { items: held.map(([, item]) => item), hasGap: true }
  }

  #inOrder(ahead: Map<number, T>): readonly T[] {
    const items: T[] = []
    for (let item = ahead.get(this.#last + 1); item !== undefined; item = ahead.get(this.#last + 1)) {
      this.#last += 1
      ahead.delete(this.#last)
      items.push(item)
    }
    if (ahead.size === 0) this.#ahead = null
    return items
  }
}
