/** The market streams' items in the core's terms, handed to their sinks. The hottest code of the adapter. */

import { isNil } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import { msOfNanos, type Nanos, type Quote, type Trade } from '@trunkline/core/domain/market/records'
import type { TopicSink } from '@trunkline/core/ports/market'
import { effectOf } from './conditions.ts'
import { LimitOrderBook } from './order-book.ts'
import { exact, nanosOf, symbolIn, venueOf } from './values.ts'

/** Trades of a symbol and an exchange whose ids are remembered, so that one sent twice counts once. */
const TRADES_REMEMBERED = 256
/** More than there are. */
const EXCHANGES_MAX = 64

/** An item before anything about it is known. Its fields are read by name, never listed. */
export interface RawItem {
  readonly T?: unknown
  readonly S?: unknown
  readonly t?: unknown
  /** Of a trade. */
  readonly i?: unknown
  readonly x?: unknown
  readonly p?: unknown
  readonly s?: unknown
  readonly c?: unknown
  readonly z?: unknown
  /** Of a quote. */
  readonly bp?: unknown
  readonly bs?: unknown
  readonly ap?: unknown
  readonly as?: unknown
  /** Of an order book. */
  readonly b?: unknown
  readonly a?: unknown
  readonly r?: unknown
}

/** Who streams one thing: a topic, and a chain that the contract is part of. */
type Sinks = Set<TopicSink>
type TradeId = string | number | bigint

class Traded {
  readonly sinks: Sinks
  /** By exchange: each gives its own ids, for a day. */
  readonly #ids = new Map<unknown, Set<TradeId>>()

  constructor(sinks: Sinks) {
    this.sinks = sinks
  }

  /** Whether the trade was published already; without an id this cannot be known. */
  isKnown({ i: id, x: exchange }: RawItem): boolean {
    if (typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'bigint') return false
    const ids = this.#ids.get(exchange) ?? this.#idsOf(exchange)
    const { size } = ids
    ids.add(id)
    if (ids.size === size) return true
    if (size >= TRADES_REMEMBERED) forgetOldest(ids)
    return false
  }

  #idsOf(exchange: unknown): Set<TradeId> {
    if (this.#ids.size >= EXCHANGES_MAX) this.#ids.clear()
    const ids = new Set<TradeId>()
    this.#ids.set(exchange, ids)
    return ids
  }
}

function forgetOldest(ids: Set<TradeId>): void {
  for (const oldest of ids) {
    ids.delete(oldest)
    return
  }
}

interface Quoted {
  readonly sinks: Sinks
  /** Whether its present quote is known, so that what is read of it is old. */
  hasQuote: boolean
}

/** Who streams what, by symbol. */
export class SinkTables {
  readonly trades = new Map<string, Traded>()
  readonly quotes = new Map<string, Quoted>()
  readonly depth = new Map<string, { readonly sinks: Sinks; readonly orderBook: LimitOrderBook }>()

  add(channel: StreamedChannel, symbol: string, sink: TopicSink): void {
    const entry = this[channel].get(symbol)
    if (entry !== undefined) {
      entry.sinks.add(sink)
      return
    }
    const sinks = new Set([sink])
    switch (channel) {
      case 'trades':
        this.trades.set(symbol, new Traded(sinks))
        break
      case 'quotes':
        this.quotes.set(symbol, { sinks, hasQuote: false })
        break
      case 'depth':
        this.depth.set(symbol, { sinks, orderBook: new LimitOrderBook() })
    }
  }

  remove(channel: StreamedChannel, symbol: string, sink: TopicSink): void {
    const sinks = this[channel].get(symbol)?.sinks
    sinks?.delete(sink)
    if (sinks?.size === 0) this[channel].delete(symbol)
  }

  clear(): void {
    for (const channel of STREAMED) this[channel].clear()
  }
}

export const STREAMED = ['trades', 'quotes', 'depth'] as const
export type StreamedChannel = (typeof STREAMED)[number]

/**
 * Hands each item to the sink that streams it, in order; what is not streamed, and kinds that were not requested, are skipped. Gives the time of the
 * latest, milliseconds since the epoch; 0 when unknown.
 * @throws Malformed at the first that cannot be read; those before it have been handed on.
 */
export function dispatch(items: readonly unknown[], tables: SinkTables): number {
  let presentMs = 0
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index]
    if (!isItem(item)) throw new Malformed('item', 'an object', item)
    const at = dispatchOne(item, tables)
    if (at !== null) presentMs = Math.max(presentMs, msOfNanos(at))
  }
  return presentMs
}

function dispatchOne(item: RawItem, tables: SinkTables): Nanos | null {
  switch (item.T) {
    case 't': {
      const entry = tables.trades.get(symbolIn(item.S, 'S'))
      if (entry === undefined || entry.isKnown(item)) return null
      const trade = tradeOf(item)
      for (const sink of entry.sinks) sink.trade(trade)
      return trade.at
    }
    case 'q': {
      const entry = tables.quotes.get(symbolIn(item.S, 'S'))
      if (entry === undefined) return null
      const quote = quoteOf(item)
      entry.hasQuote = true
      for (const sink of entry.sinks) sink.quote(quote)
      return quote.at
    }
    case 'o': {
      const entry = tables.depth.get(symbolIn(item.S, 'S'))
      if (entry === undefined) return null
      const at = nanosOf(item.t, 't')
      const depth = entry.orderBook.after(item, at)
      if (depth !== null) for (const sink of entry.sinks) sink.depth(depth)
      return at
    }
    default:
      if (typeof item.T !== 'string') throw new Malformed('T', 'a text', item.T)
      return null
  }
}

/** @throws Malformed */
export function tradeOf(item: RawItem): Trade {
  return {
    price: exact(item.p, 'p'),
    size: exact(item.s, 's'),
    venue: venueOf(item.x),
    at: nanosOf(item.t, 't'),
    // Crypto and options have no tape; what an option's condition means for bars is not documented.
    effect: item.z === undefined ? 'all' : effectOf(item.c, item.z)
  }
}

/** A price of nothing is no quote on that side. @throws Malformed */
export function quoteOf(item: RawItem): Quote {
  const bid = exact(item.bp, 'bp')
  const ask = exact(item.ap, 'ap')
  const [hasBid, hasAsk] = [!isNil(bid), !isNil(ask)]
  return {
    bidPrice: hasBid ? bid : null,
    bidSize: hasBid ? exact(item.bs, 'bs') : null,
    askPrice: hasAsk ? ask : null,
    askSize: hasAsk ? exact(item.as, 'as') : null,
    at: nanosOf(item.t, 't')
  }
}

export function isItem(value: unknown): value is RawItem {
  return typeof value === 'object' && value !== null
}
