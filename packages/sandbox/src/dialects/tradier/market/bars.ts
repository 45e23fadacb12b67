/** Past bars: days, weeks and months by date, minutes by New York's time. */

import { compare, dividedBy, parseDecimal, plus, sum } from '@trunkline/core/domain/decimal'
import { firstBars } from '../../../brokerage/api/bars.ts'
import type { Answer } from '../../../brokerage/api/response-writer.ts'
import type { DialectBrokerage } from '../../../brokerage/dialect.ts'
import type { Micros } from '../../../engine/types.ts'
import { BARS_MAX, type Bar, type BarInterval, UnknownSymbol } from '../../../market/types.ts'
import type { Call } from '../../frame/router.ts'
import { texts } from '../../frame/sign-in.ts'
import { answer } from '../answers.ts'
import { dayOf, localOf, NEW_YORK, startOfDay } from '../days.ts'
import { bad, member, required } from '../parameters.ts'
import { fromTradier } from '../symbols.ts'
import { type Branch, Figure, plain } from '../tree.ts'

export interface BarsDeps {
  readonly brokerage: DialectBrokerage
}

/** How far back each interval goes, in days: of regular sessions alone, and of all. */
const MINUTES: Readonly<
  Record<'1min' | '5min' | '15min', { readonly interval: BarInterval; readonly open: number; readonly all: number }>
> = {
  '1min': { interval: '1m', open: 20, all: 10 },
  '5min': { interval: '5m', open: 40, all: 18 },
  '15min': { interval: '15m', open: 40, all: 18 }
}
/** A little more than the minutes of the longest window. */
const MINUTE_BARS_MAX = 30_000

export async function history({ brokerage }: BarsDeps, call: Call): Promise<Answer> {
  const query = texts(call.request.query)
  const interval = query.interval === undefined ? 'daily' : member(query, 'interval', ['daily', 'weekly', 'monthly'])
  // The sandbox's days are of the regular session; days of all hours are not kept here.
  if (query.session_filter !== undefined) member(query, 'session_filter', ['all', 'open'])
  const symbol = fromTradier(required(query, 'symbol'))
  const now = brokerage.clock.now()
  const from = query.start === undefined ? 0 : startOfDay(date(query.start, 'start'))
  const to = query.end === undefined ? now + 1 : startOfDay(date(query.end, 'end').add({ days: 1 }))
  const found = isEmpty(call) ? [] : await known(brokerage.market.bars({ symbol, interval: '1d', from, to, now, limit: BARS_MAX }))
  const days = found.map(bar => ({ date: dayOf(bar.start), bar }))
  const shown = interval === 'daily' ? days : together(days, interval)
  return answer(call.request, { history: shown.length === 0 ? null : { day: shown.map(dayTree) } })
}

export async function timesales({ brokerage }: BarsDeps, call: Call): Promise<Answer> {
  const query = texts(call.request.query)
  const intervalName = member({ interval: query.interval ?? 'tick' }, 'interval', ['1min', '5min', '15min'])
  const filter = query.session_filter === undefined ? 'all' : member(query, 'session_filter', ['all', 'open'])
  const symbol = fromTradier(required(query, 'symbol'))
  const { interval, [filter]: depth } = MINUTES[intervalName]
  const now = brokerage.clock.now()
  const oldest = startOfDay(dayOf(now).subtract({ days: depth }))
  const from = query.start === undefined ? startOfDay(dayOf(now)) : time(query.start, 'start')
  const to = query.end === undefined ? now + 1 : time(query.end, 'end')
  if (from < oldest) bad('start', `must be on or after ${localText(oldest).slice(0, 16).replace('T', ' ')}`)
  const found = isEmpty(call) ? [] : await known(firstBars(brokerage.market, { symbol, interval, from, to, now }, MINUTE_BARS_MAX))
  const shown = filter === 'all' ? found : duringSessions(brokerage, found)
  return answer(call.request, { series: shown.length === 0 ? null : { data: shown.map(minuteTree) } })
}

/** There are no bars of what does not exist. */
async function known(requested: Promise<readonly Bar[]>): Promise<readonly Bar[]> {
  try {
    return await requested
  } catch (error) {
    if (error instanceof UnknownSymbol) return []
    throw error
  }
}

function isEmpty({ fault }: Call): boolean {
  return fault?.do === 'empty'
}

interface DayBar {
  readonly date: Temporal.PlainDate
  readonly bar: Bar
}

/** Under the date of the first day of each. */
function together(days: readonly DayBar[], interval: 'weekly' | 'monthly'): readonly DayBar[] {
  const groups = Map.groupBy(days, ({ date }) =>
    interval === 'monthly' ? date.toString().slice(0, 7) : `${date.yearOfWeek} ${date.weekOfYear}`
  )
  return [...groups.values()].flatMap(group => {
    const [first] = group
    const last = group.at(-1)
    if (first === undefined || last === undefined) return []
    const highest = group.reduce((a, b) => (compare(b.bar.high, a.bar.high) > 0 ? b : a))
    const lowest = group.reduce((a, b) => (compare(b.bar.low, a.bar.low) < 0 ? b : a))
    const volume = sum(group.map(({ bar }) => bar.volume))
    return [{ date: first.date, bar: { ...last.bar, open: first.bar.open, high: highest.bar.high, low: lowest.bar.low, volume } }]
  })
}

function dayTree({ date: day, bar }: DayBar): Branch {
  return { date: day.toString(), ...pricesOf(bar) }
}

function minuteTree(bar: Bar): Branch {
  const middle = dividedBy(plus(bar.high, bar.low), TWO, 4)
  return {
    time: localText(bar.start),
    timestamp: Math.floor(bar.start / 1_000_000),
    price: plain(middle),
    ...pricesOf(bar),
    vwap: plain(dividedBy(sum([bar.high, bar.low, bar.close]), THREE, 5))
  }
}

const [TWO, THREE] = [parseDecimal('2', 'two'), parseDecimal('3', 'three')]

function pricesOf({ open, high, low, close, volume }: Bar): Branch {
  return { open: plain(open), high: plain(high), low: plain(low), close: plain(close), volume: new Figure(volume.split('.', 1)[0] ?? '0') }
}

function duringSessions({ market }: DialectBrokerage, bars: readonly Bar[]): readonly Bar[] {
  let stretch = { until: 0, isOpen: false }
  return bars.filter(({ start }) => {
    if (start >= stretch.until) {
      const { phase, nextChange } = market.phaseAt('us-equity', start)
      stretch = { until: nextChange ?? start + 1, isOpen: phase === 'open' }
    }
    return stretch.isOpen
  })
}

function date(text: string, name: string): Temporal.PlainDate {
  try {
    return Temporal.PlainDate.from(text.slice(0, 10))
  } catch {
    return bad(name, 'must be a date such as 2026-11-03')
  }
}

/** `2026-11-03 09:30`, or a date alone, in New York. */
function time(text: string, name: string): Micros {
  try {
    return Temporal.PlainDateTime.from(text.replace(' ', 'T')).toZonedDateTime(NEW_YORK).epochMilliseconds * 1000
  } catch {
    return bad(name, 'must be a time such as 2026-11-03 09:30')
  }
}

/** `2026-11-03T09:30:00`, without a zone. */
function localText(at: Micros): string {
  return localOf(at).toPlainDateTime().toString({ smallestUnit: 'second' })
}
