/** Quotes as they are read, for prices and for what a symbol is. Pure; throws Malformed and nothing else. */

import { type TradingCalendar, usEquityCalendar, usOptionCalendar } from '@trunkline/core/domain/calendar/index'
import { type Decimal, parseDecimal, times } from '@trunkline/core/domain/decimal'
import { isNanos, isNil, isPlainDecimal } from '@trunkline/core/domain/fast/scan'
import { type Nanos, nanosOfMs, type Quote } from '@trunkline/core/domain/market/records'
import type { MarketInstrument } from '@trunkline/core/ports/market'
import { calendarFor, type MarketHours } from '../../kit/market-hours.ts'
import { field, integer, nested, text, type Wire } from '../../kit/parse.ts'
import { fromTradier, isOption } from '../symbols.ts'
import { amountOrNull, collapsed, items } from '../wire.ts'

/** Shares are quoted in hundreds. */
const HUNDRED = parseDecimal('100', 'hundred')
const SHARES = usEquityCalendar()
const OPTIONS = usOptionCalendar()
const INDEX_OPTIONS = usOptionCalendar('index')
/** Their options trade a quarter of an hour longer. */
const INDEXES = /^(?:SPXW?|XSPW?|NDXP?|RUTW?|VIXW?|DJXW?)\d{6}[CP]/

/** By Tradier's symbol. */
export function parseQuotes(answer: Wire): ReadonlyMap<string, Wire> {
  // When none of the symbols is known there is nothing but the list of those that are not.
  const quotes = nested(answer, 'quotes')
  const known = Object.hasOwn(quotes, 'quote') ? items(answer, 'quotes', 'quote') : []
  if (known.length === 0 && !Object.hasOwn(quotes, 'unmatched_symbols')) return new Map()
  return new Map(known.map(quote => [text(quote, 'symbol', 32), quote]))
}

/** Milliseconds since the epoch. */
export function parseClock(answer: Wire): { readonly atMs: number } {
  const clock = nested(answer, 'clock')
  // Given in whole seconds: it is at least that late, and the second is over when the message arrives.
  return { atMs: integer(clock, 'timestamp') * 1_000 + 999 }
}

export function instrumentOf(quote: Wire, hours: MarketHours): MarketInstrument {
  const symbol = text(quote, 'symbol', 32)
  const usual: TradingCalendar = isOption(symbol) ? (INDEXES.test(symbol) ? INDEX_OPTIONS : OPTIONS) : SHARES
  return { symbol: fromTradier(symbol), instrument: isOption(symbol) ? 'OPT' : 'STK', calendar: calendarFor(hours, usual) }
}

export function quoteOf(quote: Wire): Quote {
  const isContract = isOption(text(quote, 'symbol', 32))
  const size = (key: string) => sized(amountOrNull(quote, key), isContract)
  return sided({
    bidPrice: amountOrNull(quote, 'bid'),
    bidSize: size('bidsize'),
    askPrice: amountOrNull(quote, 'ask'),
    askSize: size('asksize'),
    at: nanosOf(quote, ['bid_date', 'ask_date', 'trade_date'])
  })
}

/** Shares are given by the hundred, contracts singly. */
export function sized(raw: Decimal | null, isContract: boolean): Decimal | null {
  if (raw === null || isContract) return raw
  // Whole hundreds nearly always, of which no sum need be made.
  const hundreds = `${raw}00`
  return isNanos(raw) && isPlainDecimal(hundreds) ? hundreds : times(raw, HUNDRED)
}

/** A price of nothing is no quote. */
export function sided({ bidPrice, bidSize, askPrice, askSize, at }: Quote): Quote {
  const hasBid = bidPrice !== null && !isNil(bidPrice)
  const hasAsk = askPrice !== null && !isNil(askPrice)
  return {
    bidPrice: hasBid ? bidPrice : null,
    bidSize: hasBid ? bidSize : null,
    askPrice: hasAsk ? askPrice : null,
    askSize: hasAsk ? askSize : null,
    at
  }
}

/** The latest of some times in milliseconds, 0 where there is none. */
export function latestMs(wire: Wire, keys: readonly string[]): number {
  return Math.max(0, ...keys.map(key => msOf(wire, key)))
}

/** So many digits may be no safe integer. */
const DIGITS_SAFE = 16

/** A time in milliseconds, 0 where there is none. */
export function msOf(wire: Wire, key: string): number {
  const raw = field(wire, key)
  // Of a time of our age, every digit of which has been looked at.
  if (isNanos(raw) && raw.length < DIGITS_SAFE) return Number(raw)
  return raw === undefined || raw === null || raw === '' || raw === 'null' ? 0 : integer(wire, key)
}

function nanosOf(wire: Wire, keys: readonly string[]): Nanos {
  return nanosOfMs(latestMs(wire, keys))
}

/** The expirations, which are sent as dates or, where more is requested, as objects. */
export function parseExpirations(answer: Wire): readonly string[] {
  const held = field(answer, 'expirations')
  if (held === null || held === 'null') return []
  const expirations = nested(answer, 'expirations')
  const dates = [...collapsed(expirations, 'date'), ...collapsed(expirations, 'expiration')]
  return dates.map(date => (typeof date === 'string' ? date : text(nested({ date }, 'date'), 'date', 10)))
}
