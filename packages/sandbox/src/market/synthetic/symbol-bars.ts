/** Bars of a synthetic symbol, from its tree of bars. */
import { regularSession } from '@trunkline/core/domain/calendar/index'
import type { Micros } from '../../engine/types.ts'
import { byLength, INTERVAL_LENGTHS, toBar } from '../bar-series.ts'
import { coreSession } from '../core-session.ts'
import { type DaySpan, daysOf } from '../day-starts.ts'
import { BARS_MAX, type Bar, type BarsQuery } from '../types.ts'
import type { SyntheticSymbol } from './symbol.ts'

/** No bars before this. */
const EARLIEST: Micros = Date.UTC(2000, 0, 1) * 1_000
/** A futures month has no bars further than this before its last trade. */
const MONTH_LISTED: Micros = 401 * 86_400_000_000

export function symbolBars(
  symbol: SyntheticSymbol,
  { interval, from, to, now, limit = BARS_MAX, session: asked }: BarsQuery
): readonly Bar[] {
  const { session, instrument } = symbol
  const days = daysOf(session.calendar.zone)
  const length = INTERVAL_LENGTHS[interval]
  const daily = interval === '1d'
  const startOf = daily ? (at: Micros): Micros => days(at).start : byLength(length)
  const most = Math.min(limit, BARS_MAX)
  const lastTradeAt = instrument.future?.lastTradeAt
  const first = Math.max(from, lastTradeAt === undefined ? EARLIEST : lastTradeAt - MONTH_LISTED)
  const bars: Bar[] = []
  for (let start = startOf(Math.min(to - 1, now)); start >= first && bars.length < most; start = startOf(start - 1)) {
    const end = daily ? days(start).end : start + length
    const span = !daily ? { start, end } : asked === 'core' ? coreSession(start) : daySession(symbol, start)
    const shape = span === null ? null : symbol.bar(span.start, span.end, now)
    if (shape !== null) bars.push(toBar(symbol.toRaw(start, shape), (asked === 'core' ? (span?.end ?? end) : end) <= now))
  }
  return bars.reverse()
}

/**
 * The range of a daily bar: the regular session, as in recorded bars. A futures day is the whole trading date, from the evening before.
 */
function daySession({ session: { calendar }, instrument }: SyntheticSymbol, start: Micros): DaySpan | null {
  const date = calendar.dateAt(start / 1_000)
  const spans = instrument.kind === 'FUT' ? calendar.spansOn(date) : [regularSession(calendar, date)]
  const [first, last] = [spans[0] ?? null, spans.at(-1) ?? null]
  return first === null || last === null ? null : { start: first.start * 1_000, end: last.end * 1_000 }
}
