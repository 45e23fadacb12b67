/** Alpaca's timeframes, made of the intervals that the sandbox keeps bars of. */

import { compare, plus } from '@trunkline/core/domain/decimal'
import type { Micros } from '../../../engine/types.ts'
import type { Bar, BarInterval } from '../../../market/types.ts'
import { badParameter } from '../problems.ts'
import { newYorkOf } from '../times.ts'

export interface Timeframe {
  readonly base: BarInterval
  /** The start of the bar that a bar of the base belongs to; null: they are the same. */
  readonly startOf: ((at: Micros) => Micros) | null
}

/** Long or short, in capitals or not; a lone `m` is a month. */
const FORM = /^(\d{1,2})(min|t|hour|h|day|d|week|w|month|m)$/i
const MINUTES: Readonly<Record<number, BarInterval>> = { 1: '1m', 5: '5m', 15: '15m', 30: '30m' }
const MONTHS = new Set([1, 2, 3, 4, 6, 12])
const MINUTE: Micros = 60_000_000

/** @throws AlpacaProblem */
export function timeframeOf(text: string): Timeframe {
  const [, digits = '', unit = ''] = FORM.exec(text) ?? []
  const found = timeframe(Number(digits), unit.toLowerCase())
  if (found === null) throw badParameter(`invalid timeframe: ${text.slice(0, 20)}`)
  return found
}

function timeframe(count: number, unit: string): Timeframe | null {
  switch (unit) {
    case 'min':
    case 't':
      return count >= 1 && count <= 59 ? minutes(count) : null
    case 'hour':
    case 'h':
      return count >= 1 && count <= 23 ? { base: '1h', startOf: count === 1 ? null : at => hoursFrom(at, count) } : null
    case 'day':
    case 'd':
      return count === 1 ? { base: '1d', startOf: null } : null
    case 'week':
    case 'w':
      return count === 1 ? { base: '1d', startOf: mondayOf } : null
    case 'month':
    case 'm':
      return MONTHS.has(count) ? { base: '1d', startOf: at => monthOf(at, count) } : null
    default:
      return null
  }
}

function minutes(count: number): Timeframe {
  const base = MINUTES[count]
  return base === undefined ? { base: '1m', startOf: at => at - (at % (count * MINUTE)) } : { base, startOf: null }
}

/** Hours of a day are counted from its midnight in New York. */
function hoursFrom(at: Micros, count: number): Micros {
  const there = newYorkOf(at)
  return there.startOfDay().add({ hours: there.hour - (there.hour % count) }).epochMilliseconds * 1000
}

function mondayOf(at: Micros): Micros {
  const day = newYorkOf(at).startOfDay()
  return day.subtract({ days: day.dayOfWeek - 1 }).epochMilliseconds * 1000
}

function monthOf(at: Micros, count: number): Micros {
  const day = newYorkOf(at).startOfDay()
  return day.with({ day: 1, month: day.month - ((day.month - 1) % count) }).epochMilliseconds * 1000
}

/** The start of the day in Chicago, or of one some days later. */
export function chicagoDay(at: Micros, days = 0): Micros {
  const there = Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1000)).toZonedDateTimeISO('America/Chicago')
  return there.startOfDay().add({ days }).epochMilliseconds * 1000
}

/** Bars in the longer ones of a timeframe; `backwards`: they come from the last to the first. */
export async function* regrouped(bars: AsyncIterable<Bar>, startOf: (at: Micros) => Micros, backwards: boolean): AsyncGenerator<Bar> {
  let group: Bar | undefined
  for await (const bar of bars) {
    const start = startOf(bar.start)
    if (group?.start === start) group = backwards ? joined({ ...bar, start }, group) : joined(group, bar)
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
