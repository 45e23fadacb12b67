/**
 * Quotes of a broker whose first record of a symbol is complete, and whose later ones have what changed. It sends no trades: they are
 * derived from the last price, its time and the day's volume, and several between two records become one of their sum.
 */

import { compare, type Decimal } from '@trunkline/core/domain/decimal'
import { isNil } from '@trunkline/core/domain/fast/scan'
import { difference } from '@trunkline/core/domain/fast/small-sums'
import { type Nanos, nanosOfMs, type Quote, type Trade } from '@trunkline/core/domain/market/records'
import { nanosOf } from './exact-values.ts'
import { sided, venueOf } from './market-values.ts'
import { field, type Wire } from './parse.ts'

/** The broker's names of the fields. */
export type QuoteFields = Readonly<
  Record<'bid' | 'bidSize' | 'ask' | 'askSize' | 'last' | 'lastSize' | 'volume' | 'tradeTime' | 'venue', string>
> & {
  /** A number that may be missing. @throws Malformed */
  readonly amount: (wire: Wire, key: string) => Decimal | null
}

/** The content of a record. */
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

export class PartialQuote {
  readonly #fields: QuoteFields
  #offered: Offered = { bid: null, bidSize: null, ask: null, askSize: null }
  #traded: Traded = { price: null, size: null, volume: null, at: null }
  #venue = ''
  #quote: Quote | null = null
  #isComplete = false

  constructor(fields: QuoteFields) {
    this.#fields = fields
  }

  /** The current quote; null before the first record. */
  get quote(): Quote | null {
    return this.#quote
  }

  /** Forgets the state: the next record is a first one. */
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
    const { bid, bidSize, ask, askSize } = this.#fields
    // Most records are of a trade alone.
    if (!isFirst && !has(wire, bid) && !has(wire, bidSize) && !has(wire, ask) && !has(wire, askSize)) return null
    const before = this.#offered
    const now: Offered = {
      bid: this.#latest(wire, bid, isFirst ? null : before.bid),
      bidSize: this.#latest(wire, bidSize, isFirst ? null : before.bidSize),
      ask: this.#latest(wire, ask, isFirst ? null : before.ask),
      askSize: this.#latest(wire, askSize, isFirst ? null : before.askSize)
    }
    this.#offered = now
    const isSame = now.bid === before.bid && now.bidSize === before.bidSize && now.ask === before.ask && now.askSize === before.askSize
    if (isSame && !isFirst) return null
    const at = nanosOfMs(Math.floor(atMs))
    this.#quote = sided({ bidPrice: now.bid, bidSize: now.bidSize, askPrice: now.ask, askSize: now.askSize, at })
    return this.#quote
  }

  #applyTrade(wire: Wire, isFirst: boolean): Trade | null {
    const before = this.#traded
    const now: Traded = {
      price: this.#latest(wire, this.#fields.last, before.price),
      size: this.#latest(wire, this.#fields.lastSize, before.size),
      volume: this.#latest(wire, this.#fields.volume, before.volume),
      at: this.#tradeTime(wire, before.at)
    }
    if (!isFirst && isOlder(now, before)) return null
    const venue = field(wire, this.#fields.venue)
    if (typeof venue === 'string') this.#venue = venueOf(venue)
    this.#traded = now
    if (isFirst || now.price === null || now.at === null) return null
    const size = sizeOf(now, before)
    return size === null ? null : { price: now.price, size, venue: this.#venue, at: now.at, effect: 'all' }
  }

  #latest(wire: Wire, key: string, before: Decimal | null): Decimal | null {
    return field(wire, key) === undefined ? before : this.#fields.amount(wire, key)
  }

  #tradeTime(wire: Wire, before: Nanos | null): Nanos | null {
    const value = field(wire, this.#fields.tradeTime)
    if (value === undefined) return before
    return value === null || value === '' ? null : nanosOf(value, this.#fields.tradeTime)
  }
}

function has(wire: Wire, key: string): boolean {
  return field(wire, key) !== undefined
}

/** What was traded since: of one trade its size, of several their sum. Null when nothing was. */
function sizeOf(now: Traded, before: Traded): Decimal | null {
  const traded = now.volume !== null && before.volume !== null ? difference(now.volume, before.volume) : null
  if (traded !== null && !isNil(traded) && !traded.startsWith('-')) return traded
  // The volume restarts with each day, and some symbols have none.
  const isNew = now.at !== before.at && (traded === null || !isNil(traded))
  return isNew && now.size !== null && !isNil(now.size) && !now.size.startsWith('-') ? now.size : null
}

/** A record that came after a later one. */
function isOlder(now: Traded, before: Traded): boolean {
  if (now.at === null || before.at === null) return false
  if (now.at !== before.at) return now.at.length === before.at.length ? now.at < before.at : now.at.length < before.at.length
  if (now.volume === null || before.volume === null || now.volume === before.volume) return false
  return compare(now.volume, before.volume) < 0
}
