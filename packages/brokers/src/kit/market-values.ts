/** Values of market data that brokers leave out or write in their own units. Pure. */

import { type Decimal, parseDecimal, times } from '@trunkline/core/domain/decimal'
import { isNanos, isNil, isPlainDecimal, isPlainText } from '@trunkline/core/domain/fast/scan'
import { difference, middle, percentage } from '@trunkline/core/domain/fast/small-sums'
import type { ChainEntry, Quote } from '@trunkline/core/domain/market/records'
import { field, integer, type Wire } from './parse.ts'

const HUNDRED = parseDecimal('100', 'hundred')
const VENUE_MAX = 16
/** More digits may be no safe integer. */
const DIGITS_SAFE = 16

/** A size in units from one in hundreds. */
export function hundreds(lots: Decimal): Decimal {
  // Nearly always whole lots, without arithmetic.
  const units = `${lots}00`
  return isNanos(lots) && isPlainDecimal(units) ? units : times(lots, HUNDRED)
}

/** A price of zero is no quote: then that side is null. */
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

/** A time in milliseconds since the epoch; 0 where there is none. @throws Malformed */
export function msOf(wire: Wire, key: string): number {
  const raw = field(wire, key)
  if (isNanos(raw) && raw.length < DIGITS_SAFE) return Number(raw)
  return raw === undefined || raw === null || raw === '' || raw === 'null' ? 0 : integer(wire, key)
}

/** The latest of some times, as {@link msOf}. */
export function latestMs(wire: Wire, ...keys: readonly string[]): number {
  return Math.max(0, ...keys.map(key => msOf(wire, key)))
}

/** Unprintable venue codes become unknown. */
export function venueOf(value: unknown): string {
  return typeof value === 'string' && isPlainText(value, VENUE_MAX) ? value : ''
}

/** The middle price; null where a side is missing. */
export function midOf(bid: Decimal | null, ask: Decimal | null): Decimal | null {
  return bid === null || ask === null ? null : middle(bid, ask)
}

/** The change since the previous close. */
export function changeOf(last: Decimal | null, previousClose: Decimal | null): Decimal | null {
  return last === null || previousClose === null ? null : difference(last, previousClose)
}

/** A change in percent of the previous close. */
export function percentOf(change: Decimal | null, previousClose: Decimal | null): Decimal | null {
  return change === null || previousClose === null ? null : percentage(change, previousClose)
}

/** The entry with its middle price and its change since the previous close. */
export function derived(entry: Omit<ChainEntry, 'mid' | 'netChange' | 'netChangePct'>): ChainEntry {
  const { bid, ask, last, previousClose } = entry
  const netChange = changeOf(last, previousClose)
  return { ...entry, mid: midOf(bid, ask), netChange, netChangePct: percentOf(netChange, previousClose) }
}
