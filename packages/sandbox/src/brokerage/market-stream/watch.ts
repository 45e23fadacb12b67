/** The readers of one symbol: each item is encoded once for all of them. */

import type { QuoteCommand } from '../../engine/types.ts'
import type { FeedTrade, Instrument } from '../../market/types.ts'
import type { Reader } from './batched-sender.ts'
import { barItem, depthItem, quoteItem, tradeItem } from './encode.ts'
import { LiveBar } from './live-bar.ts'

export const SYMBOL_CHANNELS = ['trades', 'quotes', 'depth', 'bars'] as const
export type SymbolChannel = (typeof SYMBOL_CHANNELS)[number]

export class Watch {
  readonly instrument: Instrument
  readonly readers: { readonly [Channel in SymbolChannel]: Set<Reader> } = {
    trades: new Set(),
    quotes: new Set(),
    depth: new Set(),
    bars: new Set()
  }
  readonly #keys: { readonly quote: string; readonly depth: string; readonly bar: string }
  #bar: LiveBar | null = null

  constructor(instrument: Instrument) {
    const { symbol } = instrument
    this.instrument = instrument
    this.#keys = { quote: `quote ${symbol}`, depth: `depth ${symbol}`, bar: `bar ${symbol}` }
  }

  get idle(): boolean {
    const { trades, quotes, depth, bars } = this.readers
    return trades.size + quotes.size + depth.size + bars.size === 0
  }

  /** The bar that is built while bars have readers. */
  get bar(): LiveBar | null {
    return this.#bar
  }

  /** Starts the bar; its beginning must be supplied. */
  keepBar(): LiveBar {
    const { bars } = this.readers
    const { symbol } = this.instrument
    const bar = new LiveBar({
      open: raw => give(bars, barItem(symbol, raw, false), this.#keys.bar),
      closed: raw => settle(bars, barItem(symbol, raw, true), this.#keys.bar)
    })
    this.#bar = bar
    return bar
  }

  forgetBar(): void {
    this.#bar = null
  }

  trade(trade: FeedTrade): void {
    const { trades } = this.readers
    if (trades.size > 0) give(trades, tradeItem(this.instrument, trade), null)
    this.#bar?.add(trade)
  }

  quote(quote: QuoteCommand): void {
    const { quotes, depth } = this.readers
    if (quotes.size > 0) give(quotes, quoteItem(quote), this.#keys.quote)
    if (depth.size > 0) give(depth, depthItem(this.instrument, quote), this.#keys.depth)
  }

  /** The current state for a new reader; `quote` is the symbol's last one. */
  greet(channel: SymbolChannel, reader: Reader, quote: QuoteCommand | undefined): void {
    if (channel === 'quotes' && quote !== undefined) reader.put(quoteItem(quote), this.#keys.quote)
    if (channel === 'depth' && quote !== undefined) reader.put(depthItem(this.instrument, quote), this.#keys.depth)
    const bar = channel === 'bars' ? this.#bar?.open : undefined
    if (bar !== undefined && bar !== null) reader.put(barItem(this.instrument.symbol, bar, false), this.#keys.bar)
  }
}

function give(readers: ReadonlySet<Reader>, item: string, key: string | null): void {
  for (const reader of readers) reader.put(item, key)
}

function settle(readers: ReadonlySet<Reader>, item: string, key: string): void {
  for (const reader of readers) reader.settle(item, key)
}
