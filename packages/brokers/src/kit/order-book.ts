/** An order book maintained from a full book and the changes of its levels. */

import { compare, type Decimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Depth, DepthLevel, Nanos } from '@trunkline/core/domain/market/records'
import { exact } from './exact-values.ts'

const SHOWN = 10
/** Levels a side may have; a book with more is not accepted. */
const LEVELS_MAX = 20_000

/** What is stored of a level. It is ordered by its price as a number; where two are the same number, by the prices themselves. */
interface Level {
  readonly order: number
  readonly shown: DepthLevel
}

/** One side, best price first. */
class OrderBookSide {
  readonly #sign: 1 | -1
  #levels: Level[] = []

  constructor(best: 'highest' | 'lowest') {
    this.#sign = best === 'lowest' ? 1 : -1
  }

  clear(): void {
    this.#levels = []
  }

  /** A size of nothing takes the level away. @throws Malformed */
  put(price: Decimal, size: Decimal, at: Nanos): void {
    const order = Number(price) * this.#sign
    const index = this.#indexOf(order, price)
    const there = this.#levels[index]
    const isThere = there !== undefined && this.#against(there, order, price) === 0
    if (Number(size) === 0) {
      if (isThere) this.#levels.splice(index, 1)
      return
    }
    const level = { order, shown: { price, size, orders: null, venue: '', at } }
    this.#levels.splice(index, isThere ? 1 : 0, level)
    if (this.#levels.length > LEVELS_MAX) throw new Malformed('levels', `at most ${LEVELS_MAX} levels`, this.#levels.length)
  }

  best(): readonly DepthLevel[] {
    return this.#levels.slice(0, SHOWN).map(({ shown }) => shown)
  }

  /** Where a level of this price is, or belongs. */
  #indexOf(order: number, price: Decimal): number {
    let [low, high] = [0, this.#levels.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const level = this.#levels[middle]
      if (level !== undefined && this.#against(level, order, price) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Below zero where the level comes first. Prices of more digits than a number holds can be one number and are still two. */
  #against({ order, shown }: Level, other: number, price: Decimal): number {
    if (order !== other) return order - other
    return shown.price === price ? 0 : compare(shown.price, price) * this.#sign
  }
}

/** Levels as they came: lists of `{p: price, s: size}`; absent or null: none changed. */
export interface DepthUpdate {
  /** Whether this is the full book, and not what changed of it. */
  readonly isWhole: boolean
  readonly bids: unknown
  readonly asks: unknown
}

export class LimitOrderBook {
  readonly #bids = new OrderBookSide('highest')
  readonly #asks = new OrderBookSide('lowest')
  #isWhole = false

  /** The order book after a message; null until the full book has arrived. @throws Malformed */
  after({ isWhole, bids, asks }: DepthUpdate, at: Nanos): Depth | null {
    if (isWhole) {
      this.#isWhole = true
      this.#bids.clear()
      this.#asks.clear()
    }
    if (!this.#isWhole) return null
    change(this.#bids, bids, 'bids', at)
    change(this.#asks, asks, 'asks', at)
    return { bids: this.#bids.best(), asks: this.#asks.best() }
  }
}

function change(side: OrderBookSide, levels: unknown, what: string, at: Nanos): void {
  if (levels === undefined || levels === null) return
  if (!Array.isArray(levels)) throw new Malformed(what, 'a list of levels', levels)
  for (const level of levels) {
    if (!isLevel(level)) throw new Malformed(what, 'levels of price and size', level)
    side.put(exact(level.p, 'p'), exact(level.s, 's'), at)
  }
}

function isLevel(value: unknown): value is { readonly p?: unknown; readonly s?: unknown } {
  return typeof value === 'object' && value !== null
}
