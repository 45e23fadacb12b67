/** What past bars may cost. Counted in bars and not in time, so that a request is taken or refused alike on every machine. */
import { parseInterval } from '../../domain/market/interval.ts'
import type { MarketDataCapabilities } from '../../ports/broker.ts'

/** Bars one snapshot may have. */
export const SNAPSHOT_BARS_MAX = 50_000
/** Bars of the broker's that may be read for one request: less than half a second of work. */
export const BROKER_BARS_MAX = 50_000
/** Backfills of more bars than this wait while those of their connection that are under way have {@link UNDER_WAY_BARS_MAX}. Smaller ones never do. */
export const SMALL_BACKFILL_BARS = 1_000
export const UNDER_WAY_BARS_MAX = 100_000
/** Pages of history that a connection asks its broker for at once. Whoever needs more of them goes to the end of the line after each. */
export const PAGES_AT_ONCE = 8

const MINUTES_A_DAY = 1_440

/** Most bars of one of the broker's own intervals that a backfill may ask for. */
export function backfillMaxOf({ backfillMax, historyDays }: MarketDataCapabilities, interval: string): number {
  const days = historyDays[interval]
  const { unit, count } = parseInterval(interval)
  return days === undefined || unit !== 'minute' ? backfillMax : Math.min(backfillMax, Math.floor((days * MINUTES_A_DAY) / count))
}
