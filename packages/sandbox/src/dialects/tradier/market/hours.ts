/** When the market trades: the clock as it stands, and a month of days. */

import { tradingDays } from '../../../brokerage/api/calendar.ts'
import type { Answer } from '../../../brokerage/api/response-writer.ts'
import { microsOf } from '../../../brokerage/clock.ts'
import type { DialectBrokerage } from '../../../brokerage/dialect.ts'
import type { Phase } from '../../../engine/types.ts'
import type { Call } from '../../frame/router.ts'
import { texts } from '../../frame/sign-in.ts'
import { answer } from '../answers.ts'
import { dayOf, localOf } from '../days.ts'
import { bad } from '../parameters.ts'
import type { Branch } from '../tree.ts'

const STATE_NAMES: Record<Phase, string> = { pre: 'premarket', open: 'open', post: 'postmarket', closed: 'closed' }
const YEARS = { least: 1_998, most: 9_998 } as const

export function clock({ market, clock: brokerage }: DialectBrokerage, { request }: Call): Answer {
  const now = brokerage.now()
  const { phase, nextChange } = market.phaseAt('us-equity', now)
  const next = nextChange === null ? null : market.phaseAt('us-equity', nextChange)
  return answer(request, {
    clock: {
      date: dayOf(now).toString(),
      description: `Market is ${STATE_NAMES[phase]}`,
      state: STATE_NAMES[phase],
      timestamp: Math.floor(now / 1_000_000),
      next_change: nextChange === null ? null : clockTime(nextChange),
      next_state: next === null ? null : STATE_NAMES[next.phase]
    }
  })
}

export function calendar({ market, clock: brokerage }: DialectBrokerage, { request }: Call): Answer {
  const query = texts(request.query)
  const today = dayOf(brokerage.now())
  const month = number(query.month, 'month', today.month, 1, 12)
  const year = number(query.year, 'year', today.year, YEARS.least, YEARS.most)
  const first = Temporal.PlainDate.from({ year, month, day: 1 })
  const last = first.with({ day: first.daysInMonth })
  const trading = new Map(tradingDays(market, 'us-equity', first, last).map(day => [textOf(day, 'date'), day]))
  const days = Array.from({ length: last.day }, (_, nth) => first.add({ days: nth })).map(day =>
    dayTree(day.toString(), trading.get(day.toString()))
  )
  return answer(request, { calendar: { month, year, days: { day: days } } })
}

function dayTree(date: string, day: object | undefined): Branch {
  if (day === undefined) return { date, status: 'closed', description: 'Market is closed' }
  const [opens, closes] = [wireTime(day, 'opens'), wireTime(day, 'closes')]
  return {
    date,
    status: 'open',
    description: 'Market is open',
    premarket: { start: wireTime(day, 'pre_opens') ?? opens, end: opens },
    open: { start: opens, end: closes },
    postmarket: { start: closes, end: wireTime(day, 'post_closes') ?? closes }
  }
}

function wireTime(day: object, name: string): string | null {
  const at = microsOf(textOf(day, name))
  return at === undefined ? null : clockTime(at)
}

function textOf(day: object, name: string): string {
  const value: unknown = Reflect.get(day, name)
  return typeof value === 'string' ? value : ''
}

/** `09:30` in New York. */
function clockTime(at: number): string {
  return localOf(at).toPlainTime().toString({ smallestUnit: 'minute' })
}

function number(text: string | undefined, name: string, otherwise: number, least: number, most: number): number {
  if (text === undefined) return otherwise
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most ? value : bad(name, `must be a whole number from ${least} to ${most}`)
}
