/** Past bars, oldest first; the market itself returns the newest of a window first. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { INTERVAL_LENGTHS } from '../../market/bar-series.ts'
import { BARS_MAX, type Bar, type BarsQuery, type Market } from '../../market/types.ts'

/** Yields to the event loop after this many. */
const PIECE = 250

/** The first `most` bars of the window, ascending, read in ranges short enough for one answer of the market. */
export async function firstBars(market: Market, query: Omit<BarsQuery, 'limit'>, most: number): Promise<readonly Bar[]> {
  const whole = INTERVAL_LENGTHS[query.interval] * (Math.min(most, PIECE) + 1)
  const to = Math.min(query.to, query.now + 1)
  const found: Bar[] = []
  let stretch = whole
  for (let from = query.from; from < to && found.length < most; ) {
    const end = Math.min(to, from + stretch)
    const bars = await market.bars({ ...query, from, to: end, limit: BARS_MAX })
    if (stretch > whole && bars.length > 0) {
      // A long range over an empty period has reached bars, possibly more than one answer can contain.
      stretch = whole
      if (bars.length === BARS_MAX) continue
    }
    found.push(...bars)
    if (bars.length === 0) stretch *= 2
    await yieldToEventLoop()
    from = end
  }
  return found.slice(0, most)
}
