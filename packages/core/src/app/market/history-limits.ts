/** Limits on reading past bars. Counted in bars, not in time, so that every machine accepts the same requests. */
import { canonicalInterval, type Interval, parseInterval } from '../../domain/market/interval.ts'
import type { MarketDataCapabilities } from '../../ports/broker.ts'

/** Most bars of one snapshot. */
export const SNAPSHOT_BARS_MAX = 50_000
/** Most of the broker's bars read for one request: less than half a second of work. */
export const BROKER_BARS_MAX = 50_000
/**
 * Backfills of more bars than this wait while those in progress on their connection total {@link UNDER_WAY_BARS_MAX}. Smaller ones never
 * wait.
 */
export const SMALL_BACKFILL_BARS = 1_000
export const UNDER_WAY_BARS_MAX = 100_000
/**
 * REST reads of more of the broker's bars than this wait for one another if too many are in progress on a connection. Smaller ones never
 * wait.
 */
export const SMALL_READ_BARS = 1_000
export const LONG_READS_AT_ONCE = 2
/** Bars that the whole process handles in one turn of the event loop: some milliseconds. */
export const SLICE_BARS = 100
/** Pages of history that a connection requests at once. After each page, its reader goes to the end of the queue. */
export const PAGES_AT_ONCE = 8

const MINUTES_A_DAY = 1_440

/** The broker's name of an interval; null if its bars are made from shorter ones. */
function brokerInterval({ historyIntervals }: Pick<MarketDataCapabilities, 'historyIntervals'>, interval: Interval): string | null {
  const wanted = canonicalInterval(interval)
  return historyIntervals.find(text => canonicalInterval(parseInterval(text)) === wanted) ?? null
}

/** How far back the broker's bars of an interval reach, in days; null if no bound is known, or the broker has no such bars. */
export function daysMaxOf(marketData: Pick<MarketDataCapabilities, 'historyIntervals' | 'historyDays'>, interval: Interval): number | null {
  const text = brokerInterval(marketData, interval)
  return text === null ? null : (marketData.historyDays[text] ?? null)
}

/** Most bars of an interval that a backfill may request: of the broker's own bars, no more than fit into the days that it stores. */
export function backfillMaxOf(
  marketData: Pick<MarketDataCapabilities, 'backfillMax' | 'historyIntervals' | 'historyDays'>,
  interval: Interval
): number {
  const { backfillMax } = marketData
  const days = daysMaxOf(marketData, interval)
  if (days === null || interval.unit !== 'minute') return backfillMax
  return Math.min(backfillMax, Math.floor((days * MINUTES_A_DAY) / interval.count))
}
