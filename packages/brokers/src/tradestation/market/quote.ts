/**
 * One symbol of the quote stream: its first line is complete, later ones have what changed. The broker sends no trades: they are derived from the last
 * price, its time and the day's volume, and several between two lines become one of their sum.
 */

import { compare, type Decimal } from '@trunkline/core/domain/decimal'
import { isNil, isPlainText } from '@trunkline/core/domain/fast/scan'
import { utcNanos } from '@trunkline/core/domain/fast/scan-time'
import { difference } from '@trunkline/core/domain/fast/small-sums'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type Nanos, nanosOfMs, type Quote, type Trade } from '@trunkline/core/domain/market/records'
import { field, type Wire } from '../../kit/parse.ts'
import { amount } from '../quirks.ts'

const VENUE_MAX = 16

/** The content of a line. */
export interface QuoteUpdate {
  readonly quote: Quote | null
  readonly trade: Trade | null
}

interface Traded {
  readonly price: Decimal | null
  readonly size: Decimal | null
  readonly volume: Decimal | null
  readonly at: Nanos | null
}

interface Offered {
  readonly bid: Decimal | null
  readonly bidSize: Decimal | null
  readonly ask: Decimal | null
  readonly askSize: Decimal | null
}

const OFFERED_KEYS = ['Bid', 'BidSize', 'Ask', 'AskSize'] as const

export class QuotedSymbol {
  #offered: Offered = { bid: null, bidSize: null, ask: null, askSize: null }
  #traded: Traded = { price: null, size: null, volume: null, at: null }
  #venue = ''
  #quote: Quote | null = null
  #isComplete = false

  /** The current quote; null before the first line. */
  get quote(): Quote | null {
    return this.#quote
  }

  /** Forgets the state: the next line is a first one. */
  forget(): void {
    this.#isComplete = false
    this.#quote = null
  }

  /** `atMs` is the market's current time: quotes have no timestamp. @throws Malformed */
  apply(wire: Wire, atMs: number): QuoteUpdate {
    const isFirst = !this.#isComplete
    this.#isComplete = true
    return { quote: this.#applyQuote(wire, atMs, isFirst), trade: this.#applyTrade(wire, isFirst) }
  }

  #applyQuote(wire: Wire, atMs: number, isFirst: boolean): Quote | null {
    if (!isFirst && !OFFERED_KEYS.some(key => field(wire, key) !== undefined)) return null
    const before = this.#offered
    const latest = <K extends keyof Offered>(name: K, key: (typeof OFFERED_KEYS)[number]): Decimal | null =>
      isFirst || field(wire, key) !== undefined ? amount(wire, key) : before[name]
    const now: Offered = {
      bid: latest('bid', 'Bid'),
      bidSize: latest('bidSize', 'BidSize'),
      ask: latest('ask', 'Ask'),
      askSize: latest('askSize', 'AskSize')
    }
    this.#offered = now
    const isSame = now.bid === before.bid && now.bidSize === before.bidSize && now.ask === before.ask && now.askSize === before.askSize
    if (isSame && !isFirst) return null
    const [bidPrice, bidSize] = side(now.bid, now.bidSize)
    const [askPrice, askSize] = side(now.ask, now.askSize)
    this.#quote = { bidPrice, bidSize, askPrice, askSize, at: nanosOfMs(Math.floor(atMs)) }
    return this.#quote
  }

  #applyTrade(wire: Wire, isFirst: boolean): Trade | null {
    const before = this.#traded
    const now: Traded = {
      price: field(wire, 'Last') === undefined ? before.price : amount(wire, 'Last'),
      size: field(wire, 'LastSize') === undefined ? before.size : amount(wire, 'LastSize'),
      volume: field(wire, 'Volume') === undefined ? before.volume : amount(wire, 'Volume'),
      at: field(wire, 'TradeTime') === undefined ? before.at : nanosOrNull(wire)
    }
    if (!isFirst && isOlder(now, before)) return null
    const venue = field(wire, 'LastVenue')
    if (typeof venue === 'string') this.#venue = isPlainText(venue, VENUE_MAX) ? venue : ''
    this.#traded = now
    if (isFirst || now.price === null || now.at === null) return null
    const size = sizeOf(now, before)
    return size === null ? null : { price: now.price, size, venue: this.#venue, at: now.at, effect: 'all' }
  }
}

/** What was traded since: of one trade its size, of several their sum. Null when nothing was. */
function sizeOf(now: Traded, before: Traded): Decimal | null {
  const traded = now.volume !== null && before.volume !== null ? difference(now.volume, before.volume) : null
  if (traded !== null && !isNil(traded) && !traded.startsWith('-')) return traded
  // The volume restarts with each day, and some symbols have none.
  const isNew = now.at !== before.at && (traded === null || !isNil(traded))
  return isNew && now.size !== null && !isNil(now.size) && !now.size.startsWith('-') ? now.size : null
}

/** A line that came after a later one. */
function isOlder(now: Traded, before: Traded): boolean {
  if (now.at === null || before.at === null) return false
  if (now.at !== before.at) return now.at.length === before.at.length ? now.at < before.at : now.at.length < before.at.length
  if (now.volume === null || before.volume === null || now.volume === before.volume) return false
  return compare(now.volume, before.volume) < 0
}

/** A side without a quote is sent as zero. */
function side(price: Decimal | null, size: Decimal | null): readonly [Decimal | null, Decimal | null] {
  return price === null || isNil(price) ? [null, null] : [price, size]
}

function nanosOrNull(wire: Wire): Nanos | null {
  const value = field(wire, 'TradeTime')
  return value === null || value === '' ? null : nanosOf(value, 'TradeTime')
}

/** A time in UTC as nanoseconds, to the last digit that was written. @throws Malformed */
export function nanosOf(value: unknown, what: string): Nanos {
  const nanos = typeof value === 'string' ? utcNanos(value) : null
  if (nanos !== null) return nanos
  throw new Malformed(what, 'a time in UTC', value)
}
