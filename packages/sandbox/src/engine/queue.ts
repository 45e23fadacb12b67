/** A price-time queue: levels by price, first come first served within each. */

/** A position in the queue. `item` may be replaced by another, which inherits the position. */
export interface QueueNode<T> {
  item: T
  readonly level: QueueLevel<T>
  before: QueueNode<T> | null
  behind: QueueNode<T> | null
}

interface QueueLevel<T> {
  readonly price: bigint
  first: QueueNode<T> | null
  last: QueueNode<T> | null
}

/** Adding costs a binary search and, for a new price, one array insertion. Removing is constant unless it empties its price. */
export class PriceQueue<T> {
  // The best price is at the end, where most orders come and go, so insertions there move almost nothing.
  readonly #levels: QueueLevel<T>[] = []
  readonly #highestFirst: boolean
  #size = 0

  constructor(best: 'highest' | 'lowest') {
    this.#highestFirst = best === 'highest'
  }

  get size(): number {
    return this.#size
  }

  /** Adds at the end of its price. */
  add(price: bigint, item: T): QueueNode<T> {
    const level = this.#levelOf(price)
    const node: QueueNode<T> = { item, level, before: level.last, behind: null }
    if (level.last === null) level.first = node
    else level.last.behind = node
    level.last = node
    this.#size++
    return node
  }

  remove(node: QueueNode<T>): void {
    const { level, before, behind } = node
    if (before === null) level.first = behind
    else before.behind = behind
    if (behind === null) level.last = before
    else behind.before = before
    this.#size--
    if (level.first === null) this.#levels.splice(this.#indexOf(level.price), 1)
  }

  /** The first position of the best price. */
  first(): QueueNode<T> | null {
    return this.#levels.at(-1)?.first ?? null
  }

  /** The position after this one; both must be in the queue. */
  next(node: QueueNode<T>): QueueNode<T> | null {
    if (node.behind !== null) return node.behind
    return this.#levels[this.#indexOf(node.level.price) - 1]?.first ?? null
  }

  /** Best first. The queue must not change during the iteration. */
  items(): T[] {
    const found: T[] = []
    for (let node = this.first(); node !== null; node = this.next(node)) found.push(node.item)
    return found
  }

  #levelOf(price: bigint): QueueLevel<T> {
    const at = this.#indexOf(price)
    const there = this.#levels[at]
    if (there?.price === price) return there
    const level: QueueLevel<T> = { price, first: null, last: null }
    this.#levels.splice(at, 0, level)
    return level
  }

  /** The index of the price, or the one where it would be inserted. */
  #indexOf(price: bigint): number {
    let low = 0
    let high = this.#levels.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const there = this.#levels[middle]
      if (there !== undefined && (this.#highestFirst ? there.price < price : there.price > price)) low = middle + 1
      else high = middle
    }
    return low
  }
}
