/** What past bars may cost. Counted in bars and not in time, so that a request is taken or refused alike on every machine. */
import { canonicalInterval, type Interval, parseInterval } from '../../domain/market/interval.ts'
import type { MarketDataCapabilities } from '../../ports/broker.ts'

/** Bars one snapshot may have. */
export const SNAPSHOT_BARS_MAX = 50_000
/** Bars of the broker's that may be read for one request: less than half a second of work. */
export const BROKER_BARS_MAX = 50_000
/** Backfills of more bars than this wait while those of their connection that are under way have {@link UNDER_WAY_BARS_MAX}. Smaller ones never do. */
export const SMALL_BACKFILL_BARS = 1_000
export const UNDER_WAY_BARS_MAX = 100_000
/** Reads over REST of more of the broker's bars than this wait for one another, so many of a connection are under way. Smaller ones never wait. */
export const SMALL_READ_BARS = 1_000
export const LONG_READS_AT_ONCE = 2
/** Bars of the whole process that are processed in one turn of the event loop: some milliseconds. */
export const SLICE_BARS = 100
/** Pages of history that a connection asks its broker for at once. A reader that needs more of them goes to the end of the queue after each. */
export const PAGES_AT_ONCE = 8

const MINUTES_A_DAY = 1_440

/** The broker's own label for an interval; null where its bars are made of shorter ones. */
function brokerInterval({ historyIntervals }: Pick<MarketDataCapabilities, 'historyIntervals'>, interval: Interval): string | null {
  const wanted = canonicalInterval(interval)
  return historyIntervals.find(text => canonicalInterval(parseInterval(text)) === wanted) ?? null
}

/** How far back the broker's own bars of an interval reach, in days; null where no bound is known, or the broker has none of the kind. */
export function daysMaxOf(marketData: Pick<MarketDataCapabilities, 'historyIntervals' | 'historyDays'>, interval: Interval): number | null {
  const text = brokerInterval(marketData, interval)
  return text === null ? null : (marketData.historyDays[text] ?? null)
}

/** Most bars of an interval that a backfill may ask for: of the broker's own no more than fit into the days that it keeps. */
export function backfillMaxOf(
  marketData: Pick<MarketDataCapabilities, 'backfillMax' | 'historyIntervals' | 'historyDays'>,
  interval: Interval
): number {
  const { backfillMax } = marketData
  const days = daysMaxOf(marketData, interval)
  if (days === null || interval.unit !== 'minute') return backfillMax
  return Math.min(backfillMax, Math.floor((days * MINUTES_A_DAY) / interval.count))
}
