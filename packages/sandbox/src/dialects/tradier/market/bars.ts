/** Past bars: days by date, minutes by New York's time. */

import { type Answer, type Bar, type BarInterval, firstBars, type Micros, UnknownSymbol } from '../../frame/brokerage.ts'
import type { BrokerageView } from '../../frame/brokerage-view.ts'
import type { Call } from '../../frame/router.ts'
import { texts } from '../../frame/sign-in.ts'
import { answer } from '../answers.ts'
import { dayOf, localOf, NEW_YORK, startOfDay } from '../days.ts'
import { bad, member, required } from '../parameters.ts'
import { fromTradier } from '../symbols.ts'
import { type Branch, Figure, plain } from '../tree.ts'

export interface BarsDeps {
  readonly brokerage: BrokerageView
}

/** How far back each interval goes, in days of all hours. */
const MINUTES: Readonly<Record<'1min' | '5min' | '15min', { readonly interval: BarInterval; readonly days: number }>> = {
  '1min': { interval: '1m', days: 10 },
  '5min': { interval: '5m', days: 18 },
  '15min': { interval: '15m', days: 18 }
}
/** A little more than the minutes of the longest window. */
const BARS_MAX = 30_000

/** Days of the regular session. */
export async function history(deps: BarsDeps, call: Call): Promise<Answer> {
  const query = texts(call.request.query)
  member({ interval: query.interval ?? 'daily' }, 'interval', ['daily'])
  const from = query.start === undefined ? 0 : startOfDay(date(query.start, 'start'))
  const to = query.end === undefined ? null : startOfDay(date(query.end, 'end').add({ days: 1 }))
  const found = await barsOf(deps, call, '1d', from, to)
  return answer(call.request, {
    history: found.length === 0 ? null : { day: found.map(bar => ({ date: dayOf(bar.start).toString(), ...pricesOf(bar) })) }
  })
}

/** Minutes of all hours. */
export async function timesales(deps: BarsDeps, call: Call): Promise<Answer> {
  const query = texts(call.request.query)
  const { interval, days } = MINUTES[member({ interval: query.interval ?? 'tick' }, 'interval', ['1min', '5min', '15min'])]
  const today = dayOf(deps.brokerage.clock.now())
  const oldest = startOfDay(today.subtract({ days }))
  const from = query.start === undefined ? startOfDay(today) : time(query.start, 'start')
  if (from < oldest) bad('start', `must be on or after ${localText(oldest).slice(0, 16).replace('T', ' ')}`)
  const found = await barsOf(deps, call, interval, from, query.end === undefined ? null : time(query.end, 'end'))
  return answer(call.request, {
    series:
      found.length === 0
        ? null
        : { data: found.map(bar => ({ time: localText(bar.start), timestamp: Math.floor(bar.start / 1_000_000), ...pricesOf(bar) })) }
  })
}

/** There are none of what does not exist. */
async function barsOf(
  { brokerage }: BarsDeps,
  call: Call,
  interval: BarInterval,
  from: Micros,
  to: Micros | null
): Promise<readonly Bar[]> {
  const symbol = fromTradier(required(texts(call.request.query), 'symbol'))
  const now = brokerage.clock.now()
  if (call.fault?.do === 'empty') return []
  try {
    return await firstBars(brokerage.market, { symbol, interval, from, to: to ?? now + 1, now }, BARS_MAX)
  } catch (error) {
    if (error instanceof UnknownSymbol) return []
    throw error
  }
}

function pricesOf({ open, high, low, close, volume }: Bar): Branch {
  return { open: plain(open), high: plain(high), low: plain(low), close: plain(close), volume: new Figure(volume.split('.', 1)[0] ?? '0') }
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
