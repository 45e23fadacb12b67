/**
 * The sinks of a feed by channel and symbol, for streams that send trades again, only the next quote, and changes of order books. A topic
 * and a chain that its contract is part of may both stream it.
 */

import type { Quote } from '@trunkline/core/domain/market/records'
import type { Topic, TopicSink } from '@trunkline/core/ports/market'
import { LimitOrderBook } from '../order-book.ts'
import { TradeIds } from '../repeated-trades.ts'
import type { SinkTable } from './incremental-feed.ts'

export class TopicSinks implements SinkTable {
  readonly trades = new Map<string, { readonly sinks: Set<TopicSink>; readonly ids: TradeIds }>()
  /** `hasQuote`: the present quote is known, so that what is read of it is old. */
  readonly quotes = new Map<string, { readonly sinks: Set<TopicSink>; hasQuote: boolean }>()
  readonly depth = new Map<string, { readonly sinks: Set<TopicSink>; readonly orderBook: LimitOrderBook }>()

  add({ channel, symbol }: Pick<Topic, 'channel' | 'symbol'>, sink: TopicSink): void {
    if (channel === 'bars' || channel === 'options_chain') return
    const entry = this[channel].get(symbol)
    if (entry !== undefined) entry.sinks.add(sink)
    else if (channel === 'trades') this.trades.set(symbol, { sinks: new Set([sink]), ids: new TradeIds() })
    else if (channel === 'quotes') this.quotes.set(symbol, { sinks: new Set([sink]), hasQuote: false })
    else this.depth.set(symbol, { sinks: new Set([sink]), orderBook: new LimitOrderBook() })
  }

  remove({ channel, symbol }: Pick<Topic, 'channel' | 'symbol'>, sink: TopicSink): void {
    if (channel === 'bars' || channel === 'options_chain') return
    const sinks = this[channel].get(symbol)?.sinks
    sinks?.delete(sink)
    if (sinks?.size === 0) this[channel].delete(symbol)
  }

  clear(): void {
    for (const table of [this.trades, this.quotes, this.depth]) table.clear()
  }

  /** Publishes a quote that was read, unless the stream was faster or nothing streams it. @throws what `read` throws */
  present(symbol: string, read: () => Quote): void {
    const entry = this.quotes.get(symbol)
    if (entry === undefined || entry.hasQuote) return
    const quote = read()
    entry.hasQuote = true
    for (const sink of entry.sinks) sink.quote(quote)
  }
}
