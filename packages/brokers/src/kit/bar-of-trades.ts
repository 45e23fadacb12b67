/** Bars of the minutes that a broker's history does not have yet, from their trades. Pure. */

import { compare, sum } from '@trunkline/core/domain/decimal'
import { type Bar, msOfNanos, type Trade } from '@trunkline/core/domain/market/records'

const MINUTE_MS = 60_000

/**
 * Starts of the minutes within [fromMs, toMs) and after the history's last that the history may lack, ascending: the one under way, and the
 * one before it for `publishedMs` after its end.
 */
export function minutesLacking(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  { lastMs, presentMs, publishedMs }: { readonly lastMs: number; readonly presentMs: number; readonly publishedMs: number }
): readonly number[] {
  const current = Math.floor(presentMs / MINUTE_MS) * MINUTE_MS
  const late = presentMs - current < publishedMs ? [current - MINUTE_MS] : []
  return [...late, current].filter(startMs => startMs >= fromMs && startMs < toMs && startMs > lastMs)
}

/** What trades make of a minute; null when none of them moves a price. */
export function barOfTrades(trades: readonly Trade[], startMs: number, presentMs: number): Bar | null {
  const own = trades.filter(({ at }) => msOfNanos(at) >= startMs && msOfNanos(at) < startMs + MINUTE_MS)
  const prices = own.filter(({ effect }) => effect === 'all').map(({ price }) => price)
  const [open, ...rest] = prices
  if (open === undefined) return null
  return {
    startMs,
    open,
    high: rest.reduce((high, price) => (compare(price, high) > 0 ? price : high), open),
    low: rest.reduce((low, price) => (compare(price, low) < 0 ? price : low), open),
    close: prices.at(-1) ?? open,
    volume: sum(own.filter(({ effect }) => effect !== 'none').map(({ size }) => size)),
    closed: startMs + MINUTE_MS <= presentMs
  }
}
