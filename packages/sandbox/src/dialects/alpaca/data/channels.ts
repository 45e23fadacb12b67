/** The channels of the data streams: anyone who subscribes to one is given its items, and the market is followed once for all of them. */

import { compare, parseDecimal, plus } from '@trunkline/core/domain/decimal'
import type { FeedTrade, MarketDataTap, QuoteCommand, QuoteLevel } from '../../frame/brokerage.ts'
import type { BrokerageView } from '../../frame/brokerage-view.ts'
import { nanosOf } from '../times.ts'
import type { DataSource } from './source.ts'
import { type Kind, levelsWire, quoteWire, tradeWire } from './wire.ts'

/** Those that Alpaca has, by kind of endpoint. Some never have events here; subscribing to them is valid all the same. */
export const CHANNELS = {
  stocks: ['trades', 'quotes', 'bars', 'updatedBars', 'dailyBars', 'statuses', 'lulds', 'imbalances', 'corrections', 'cancelErrors'],
  crypto: ['trades', 'quotes', 'bars', 'updatedBars', 'dailyBars', 'orderbooks'],
  options: ['trades', 'quotes']
} as const satisfies Record<Kind, readonly string[]>

/** Takes JSON objects. */
export interface Reader {
  put(item: string): void
}

interface Feed {
  readonly readers: Set<Reader>
  readonly tap: Disposable
}

export class Channels {
  readonly #brokerage: BrokerageView
  readonly #source: DataSource
  readonly #kind: Kind
  readonly #feeds = new Map<string, Feed>()
  /** The id of the last trade; those of another start of the sandbox are others. */
  #trades: number

  constructor(brokerage: BrokerageView, source: DataSource, kind: Kind) {
    this.#brokerage = brokerage
    this.#source = source
    this.#kind = kind
    this.#trades = Math.floor(brokerage.realNow()) * 1000
  }

  /** @throws Problem when the sandbox follows too many contracts already */
  add(channel: string, symbol: string, reader: Reader): void {
    const key = `${channel} ${symbol}`
    const known = this.#feeds.get(key)
    if (known === undefined) this.#open(key, channel, { symbol, reader })
    else {
      known.readers.add(reader)
      const book = channel === 'orderbooks' ? this.#source.quote(symbol) : undefined
      if (book !== undefined) reader.put(depthItem(symbol, book, { bids: book.bids, asks: book.asks, whole: true }))
    }
  }

  drop(channel: string, symbol: string, reader: Reader): void {
    const key = `${channel} ${symbol}`
    const feed = this.#feeds.get(key)
    if (feed?.readers.delete(reader) !== true || feed.readers.size > 0) return
    this.#feeds.delete(key)
    feed.tap[Symbol.dispose]()
  }

  close(): void {
    for (const { tap } of this.#feeds.values()) tap[Symbol.dispose]()
    this.#feeds.clear()
  }

  #open(key: string, channel: string, { symbol, reader }: { readonly symbol: string; readonly reader: Reader }): void {
    const readers = new Set([reader])
    const emit = (item: string) => {
      for (const each of readers) each.put(item)
    }
    const tap = this.#tapFor(channel, symbol, emit)
    // A channel without events needs no market data.
    const following = tap === null || this.#source.find(symbol, this.#kind) === null ? NOTHING : this.#brokerage.taps.add(symbol, tap)
    this.#feeds.set(key, { readers, tap: following })
  }

  #tapFor(channel: string, symbol: string, emit: (item: string) => void): MarketDataTap | null {
    switch (channel) {
      case 'trades':
        return { trade: trade => emit(this.#trade(symbol, trade)) }
      case 'quotes':
        return { quote: freshly(this.#source.quote(symbol), quote => emit(this.#quote(symbol, quote))) }
      case 'orderbooks':
        return { quote: depthEmitter(symbol, emit) }
      default:
        return null
    }
  }

  #trade(symbol: string, { at, price, size, venue, effect }: FeedTrade): string {
    const letter = venue !== undefined && venue.length === 1 ? venue : this.#source.letterOf(symbol)
    // The tape does not report the aggressor: it is the side that the price is nearer to.
    const print = { at, price, size, id: ++this.#trades, letter, effect, isBuy: isBuy(price, this.#source.quote(symbol)) }
    return item('t', symbol, tradeWire(this.#kind, print))
  }

  #quote(symbol: string, quote: QuoteCommand): string {
    return item('q', symbol, quoteWire(this.#kind, quote, this.#source.letterOf(symbol)))
  }
}

const NOTHING: Disposable = { [Symbol.dispose]: () => undefined }

function item(type: string, symbol: string, fields: object): string {
  return JSON.stringify({ T: type, S: symbol, ...fields })
}

/** Taps begin with the present quote; Alpaca's subscribers wait for the next. */
function freshly(standing: QuoteCommand | undefined, emit: (quote: QuoteCommand) => void): (quote: QuoteCommand) => void {
  return quote => {
    if (quote !== standing) emit(quote)
  }
}

/** At the middle or above, and wherever there is no quote to compare with. */
export function isBuy(price: string, quote: Pick<QuoteCommand, 'bids' | 'asks'> | undefined): boolean {
  const [bid, ask] = [quote?.bids[0]?.[0], quote?.asks[0]?.[0]]
  if (bid === undefined || ask === undefined) return true
  const traded = parseDecimal(price, 'price')
  return compare(plus(traded, traded), plus(parseDecimal(bid, 'bid'), parseDecimal(ask, 'ask'))) >= 0
}

interface Sides {
  readonly bids: readonly QuoteLevel[]
  readonly asks: readonly QuoteLevel[]
  readonly whole: boolean
}

/** The whole order book first, then the changed levels; a removed level has the size 0. */
function depthEmitter(symbol: string, emit: (item: string) => void): (quote: QuoteCommand) => void {
  let before: QuoteCommand | null = null
  return quote => {
    const sides =
      before === null
        ? { bids: quote.bids, asks: quote.asks, whole: true }
        : { bids: changed(before.bids, quote.bids), asks: changed(before.asks, quote.asks), whole: false }
    before = quote
    if (sides.whole || sides.bids.length > 0 || sides.asks.length > 0) emit(depthItem(symbol, quote, sides))
  }
}

function depthItem(symbol: string, { at }: QuoteCommand, { bids, asks, whole }: Sides): string {
  return item('o', symbol, { t: nanosOf(at), b: levelsWire(bids), a: levelsWire(asks), ...(whole ? { r: true } : {}) })
}

function changed(before: readonly QuoteLevel[], now: readonly QuoteLevel[]): readonly QuoteLevel[] {
  const sizes = new Map(before)
  const moved = now.filter(([price, size]) => sizes.get(price) !== size)
  const prices = new Set(now.map(([price]) => price))
  return [...moved, ...before.filter(([price]) => !prices.has(price)).map(([price]) => [price, '0'] as const)]
}
