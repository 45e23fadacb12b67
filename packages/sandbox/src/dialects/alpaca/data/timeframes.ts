/** Alpaca's timeframes as the intervals that the sandbox keeps bars of, and a crypto pair's days. */

import { compare, plus } from '@trunkline/core/domain/decimal'
import type { Bar, BarInterval, Micros } from '../../frame/brokerage.ts'
import { badParameter } from '../problems.ts'

/** In lower case: Alpaca takes them in capitals or not. */
const INTERVALS: Readonly<Record<string, BarInterval>> = {
  '1min': '1m',
  '5min': '5m',
  '15min': '15m',
  '30min': '30m',
  '1hour': '1h',
  '1h': '1h',
  '1day': '1d'
}

/** @throws AlpacaProblem */
export function intervalOf(timeframe: string): BarInterval {
  const name = timeframe.toLowerCase()
  const interval = Object.hasOwn(INTERVALS, name) ? INTERVALS[name] : undefined
  if (interval !== undefined) return interval
  throw badParameter(`invalid timeframe: ${timeframe.slice(0, 20)}`)
}

/** The start of the day in Chicago, or of one some days later. */
export function chicagoDay(at: Micros, days = 0): Micros {
  const there = Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1000)).toZonedDateTimeISO('America/Chicago')
  return there.startOfDay().add({ days }).epochMilliseconds * 1000
}

/** Ascending bars in longer ones, which start where `startOf` says. */
export async function* regrouped(bars: AsyncIterable<Bar>, startOf: (at: Micros) => Micros): AsyncGenerator<Bar> {
  let group: Bar | undefined
  for await (const bar of bars) {
    const start = startOf(bar.start)
    if (group?.start === start) group = joined(group, bar)
    else {
      if (group !== undefined) yield group
      group = { ...bar, start }
    }
  }
  if (group !== undefined) yield group
}

function joined(earlier: Bar, later: Bar): Bar {
  return {
    start: earlier.start,
    open: earlier.open,
    high: compare(earlier.high, later.high) >= 0 ? earlier.high : later.high,
    low: compare(earlier.low, later.low) <= 0 ? earlier.low : later.low,
    close: later.close,
    volume: plus(earlier.volume, later.volume),
    closed: later.closed
  }
}
