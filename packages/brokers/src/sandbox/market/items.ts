/**
 * The market stream's items in the core's terms, handed to their sinks. The hottest code of the adapter: one look at the kind, one look-up by
 * symbol, each text walked once, one object an event.
 */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { isNanos, isPlainDecimal, isPlainText } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type DepthLevel, msOfNanos, type Nanos, TRADE_EFFECTS, type TradeEffect } from '@trunkline/core/domain/market/records'
import type { TopicSink } from '@trunkline/core/ports/market'
import { chainEntry, type RawOption } from './chain.ts'
import { type SinkTables, STREAMED_INTERVAL, STREAMED_INTERVAL_MS } from './sink-tables.ts'

const LEVELS_MAX = 10
const VENUE_MAX = 16

/** An item before anything about it is known. Its fields are read by name, never listed, so no inherited or extra one gets in. */
interface RawItem extends RawOption {
  readonly t?: unknown
  readonly p?: unknown
  readonly z?: unknown
  readonly x?: unknown
  readonly at?: unknown
  readonly k?: unknown
  readonly i?: unknown
  readonly closed?: unknown
  readonly bids?: unknown
  readonly asks?: unknown
}

/**
 * Hands each item to the sink that streams it, in order. Items that are not streamed and unknown kinds are skipped. Returns the time
 * that it must be by now, milliseconds since the epoch: of the last event, or the end of a bar that is closed; 0 when unknown.
 * @throws Malformed at the first that cannot be read; those before it have been handed on.
 */
export function dispatch(items: readonly unknown[], tables: SinkTables): number {
  let lastAt: Nanos | null = null
  let presentMs = 0
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index]
    if (!isItem(item)) throw new Malformed('item', 'an object', item)
    switch (item.t) {
      case 'trade': {
        const sink = tables.trades.get(symbolOf(item.s, 's'))
        if (sink !== undefined) lastAt = trade(item, sink)
        break
      }
      case 'quote': {
        const sink = tables.quotes.get(symbolOf(item.s, 's'))
        if (sink !== undefined) lastAt = quote(item, sink)
        break
      }
      case 'depth': {
        const sink = tables.depth.get(symbolOf(item.s, 's'))
        if (sink !== undefined) sink.depth({ bids: levels(item.bids, 'bids'), asks: levels(item.asks, 'asks') })
        break
      }
      case 'bar': {
        const sink = tables.bars.get(symbolOf(item.s, 's'))
        if (sink !== undefined && item.i === STREAMED_INTERVAL) presentMs = Math.max(presentMs, bar(item, sink))
        break
      }
      case 'option': {
        const entry = tables.chains.get(symbolOf(item.u, 'u'))?.get(symbolOf(item.expiration, 'expiration'))
        if (entry !== undefined) entry.sink.chain(chainEntry(item, entry.expiration))
        break
      }
      default:
        if (typeof item.t !== 'string') throw new Malformed('t', 'a text', item.t)
    }
  }
  return lastAt === null ? presentMs : Math.max(presentMs, msOfNanos(lastAt))
}

function isItem(value: unknown): value is RawItem {
  return typeof value === 'object' && value !== null
}

function trade(item: RawItem, sink: TopicSink): Nanos {
  const at = nanosOf(item.at)
  sink.trade({
    price: decimalOf(item.p, 'p'),
    size: decimalOf(item.z, 'z'),
    venue: venueOf(item.x),
    at,
    effect: effectOf(item.k)
  })
  return at
}

function quote(item: RawItem, sink: TopicSink): Nanos {
  const at = nanosOf(item.at)
  sink.quote({
    bidPrice: decimalOrNull(item.b, 'b'),
    bidSize: decimalOrNull(item.bz, 'bz'),
    askPrice: decimalOrNull(item.a, 'a'),
    askSize: decimalOrNull(item.az, 'az'),
    at
  })
  return at
}

/** Gives the time that it must be by now. */
function bar(item: RawItem, sink: TopicSink): number {
  const { closed } = item
  if (typeof closed !== 'boolean') throw new Malformed('closed', 'true or false', closed)
  const startMs = msOfNanos(nanosOf(item.at))
  sink.bar({
    startMs,
    open: decimalOf(item.o, 'o'),
    high: decimalOf(item.h, 'h'),
    low: decimalOf(item.l, 'l'),
    close: decimalOf(item.c, 'c'),
    volume: decimalOf(item.v, 'v'),
    closed
  })
  return closed ? startMs + STREAMED_INTERVAL_MS : startMs
}

function levels(value: unknown, what: string): readonly DepthLevel[] {
  if (!Array.isArray(value) || value.length > LEVELS_MAX) throw new Malformed(what, `a list of at most ${LEVELS_MAX} levels`, value)
  const read: DepthLevel[] = []
  for (let index = 0; index < value.length; index += 1) {
    const level: unknown = value[index]
    if (!Array.isArray(level)) throw new Malformed(what, 'levels of price, size, orders, venue and time', level)
    const [price, size, orders, venue, at]: readonly unknown[] = level
    read.push({
      price: decimalOf(price, what),
      size: decimalOf(size, what),
      orders: decimalOrNull(orders, what),
      venue: venueOf(venue),
      at: nanosOf(at)
    })
  }
  return read
}

function symbolOf(value: unknown, what: string): string {
  if (typeof value === 'string') return value
  throw new Malformed(what, 'a text', value)
}

function decimalOf(value: unknown, what: string): Decimal {
  if (isPlainDecimal(value)) return value
  throw new Malformed(what, 'a plain decimal string', value)
}

function decimalOrNull(value: unknown, what: string): Decimal | null {
  return value === null ? null : decimalOf(value, what)
}

function nanosOf(value: unknown): Nanos {
  if (isNanos(value)) return value
  throw new Malformed('at', 'nanoseconds since the epoch, a whole number as a string', value)
}

/** A venue only describes: one that could not be written down as it is becomes an unknown one. */
function venueOf(value: unknown): string {
  return typeof value === 'string' && isPlainText(value, VENUE_MAX) ? value : ''
}

function effectOf(value: unknown): TradeEffect {
  if (value === 'all' || value === 'volume' || value === 'none') return value
  throw new Malformed('k', `one of ${TRADE_EFFECTS.join(', ')}`, value)
}
