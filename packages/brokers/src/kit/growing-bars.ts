/** Bars of minutes as a stream lets them grow. */

import type { Bar } from '@trunkline/core/domain/market/records'
import type { MarketClock } from './market-clock.ts'

const MINUTE_MS = 60_000

/** Bars of one connection: the past that comes first, up to the first that is `isPresent`, is passed over, and a bar is closed once. */
export function growingBars(publish: (bar: Bar) => void, marketClock: MarketClock): (bar: Bar, isPresent: boolean) => void {
  let isPast = true
  let closedMs = Number.NEGATIVE_INFINITY
  return (bar, isPresent) => {
    const isHistory = isPast
    if (isPresent) isPast = false
    marketClock.happened(bar.closed ? bar.startMs + MINUTE_MS : bar.startMs)
    // What has been closed before is in the broker's history.
    const isKnown = (isHistory && bar.closed) || bar.startMs <= closedMs
    if (bar.closed) closedMs = Math.max(closedMs, bar.startMs)
    if (!isKnown) publish(bar)
  }
}
