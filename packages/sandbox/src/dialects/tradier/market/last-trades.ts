/** The last trade of each requested share. */

import type { Micros } from '../../frame/brokerage.ts'
import type { BrokerageView } from '../../frame/brokerage-view.ts'

export interface LastTrade {
  /** Null before the first. */
  readonly price: string | null
  readonly at: Micros
}

interface Followed {
  readonly tap: Disposable
  last: Promise<LastTrade>
}

const DAY: Micros = 86_400_000_000
const MINUTE: Micros = 60_000_000
/** Shares followed at once; beyond it the first is given up. */
const FOLLOWED_MAX = 500

export class LastTrades {
  readonly #brokerage: Pick<BrokerageView, 'taps' | 'market' | 'clock'>
  readonly #followed = new Map<string, Followed>()

  constructor(brokerage: Pick<BrokerageView, 'taps' | 'market' | 'clock'>) {
    this.#brokerage = brokerage
  }

  of(symbol: string): Promise<LastTrade> {
    return (this.#followed.get(symbol) ?? this.#follow(symbol)).last
  }

  close(): void {
    for (const { tap } of this.#followed.values()) tap[Symbol.dispose]()
    this.#followed.clear()
  }

  #follow(symbol: string): Followed {
    const [first] = this.#followed.keys()
    if (first !== undefined && this.#followed.size >= FOLLOWED_MAX) this.#giveUp(first)
    const trade = ({ price, at, effect }: { readonly price: string; readonly at: Micros; readonly effect?: string }) => {
      if (effect !== 'volume') followed.last = Promise.resolve({ price, at })
    }
    const followed: Followed = { tap: this.#brokerage.taps.add(symbol, { trade }), last: this.#before(symbol) }
    followed.last.catch(() => this.#giveUp(symbol))
    this.#followed.set(symbol, followed)
    return followed
  }

  async #before(symbol: string): Promise<LastTrade> {
    const now = this.#brokerage.clock.now()
    const [minute] = await this.#brokerage.market.bars({ symbol, interval: '1m', from: now - DAY, to: now + 1, now, limit: 1 })
    return minute === undefined ? { price: null, at: 0 } : { price: minute.close, at: Math.min(now, minute.start + MINUTE - 1_000) }
  }

  #giveUp(symbol: string): void {
    this.#followed.get(symbol)?.tap[Symbol.dispose]()
    this.#followed.delete(symbol)
  }
}
