/** Which bar an instant belongs to: TradeStation's intervals and session templates. */

import { midnight, type Phase, type Span, usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import { type BarInterval, daysOf, type Instrument, type Micros, NEW_YORK } from '../frame/brokerage.ts'

export const UNITS = ['Minute', 'Daily', 'Weekly', 'Monthly'] as const
export type Unit = (typeof UNITS)[number]

/** Which phases of the day share bars are made of; `Default`: of the regular session. They matter for intraday bars of shares only. */
export const TEMPLATES = {
  Default: ['open'],
  USEQPre: ['pre', 'open'],
  USEQPost: ['open', 'post'],
  USEQPreAndPost: ['pre', 'open', 'post'],
  USEQ24Hour: ['pre', 'open', 'post', 'closed']
} as const satisfies Record<string, readonly Phase[]>
export type Template = keyof typeof TEMPLATES

export interface Interval {
  readonly unit: Unit
  /** Minutes from 1 to 1440; 1 for the other units. */
  readonly size: number
  readonly template: Template
}

/** One bar's stretch. */
export interface Frame {
  readonly start: Micros
  /** What the bar is named by: its end, of days the session's. */
  readonly label: Micros
  /** When nothing more is added. */
  readonly over: Micros
}

export interface Framing {
  /** Null: trades of that time are in no bar. */
  readonly of: (at: Micros) => Frame | null
  /** Bars of the market that frames are made of. */
  readonly base: BarInterval
  /** Of a frame at most. */
  readonly length: Micros
  /** Whether a minute of the market is part of a frame: days of shares are of the regular session. */
  readonly takes: (minute: Micros) => boolean
}

const MINUTE: Micros = 60_000_000
const DAY: Micros = 1_440 * MINUTE
const FRIDAY = 5
const HOUR_OF_CLOSE = { shares: 16, futures: 17 } as const
const BASES: readonly (readonly [minutes: number, interval: BarInterval])[] = [
  [30, '30m'],
  [15, '15m'],
  [5, '5m'],
  [1, '1m']
]

export function framingOf(instrument: Instrument, interval: Interval): Framing {
  return interval.unit === 'Minute' ? minutes(instrument, interval) : days(instrument, interval.unit)
}

function minutes(instrument: Instrument, { size, template }: Interval): Framing {
  const [, base] = BASES.find(([length]) => size % length === 0) ?? [1, '1m']
  const length = size * MINUTE
  const of = instrument.hours === 'us_equity' ? inSessions(length, template) : inDays(length, zoneOf(instrument))
  return { of, base, length, takes: minute => of(minute) !== null }
}

/** Counted from midnight. */
function inDays(length: Micros, zone: string): Framing['of'] {
  const dayOf = daysOf(zone)
  return at => {
    const day = dayOf(at)
    const start = at - ((at - day.start) % length)
    const end = Math.min(start + length, day.end)
    return { start, label: end, over: end }
  }
}

/** Counted from where the template's day begins; the last one ends with it. */
function inSessions(length: Micros, template: Template): Framing['of'] {
  const calendar = usEquityCalendar()
  const dayOf = daysOf(NEW_YORK)
  const phases: readonly Phase[] = TEMPLATES[template]
  const whole = inDays(length, NEW_YORK)
  let known: { readonly day: Micros; readonly spans: readonly Span[] } = { day: -1, spans: [] }
  return at => {
    if (template === 'USEQ24Hour') return whole(at)
    const { start: day } = dayOf(at)
    if (known.day !== day) {
      const spans = calendar.spansOn(calendar.dateAt((day + DAY / 2) / 1_000)).filter(({ phase }) => phases.includes(phase))
      known = { day, spans }
    }
    const { spans } = known
    const [first, last] = [spans[0], spans.at(-1)]
    if (first === undefined || last === undefined || !spans.some(span => at >= span.start * 1_000 && at < span.end * 1_000)) return null
    const start = at - ((at - first.start * 1_000) % length)
    const end = Math.min(start + length, last.end * 1_000)
    return { start, label: end, over: end }
  }
}

function days(instrument: Instrument, unit: Exclude<Unit, 'Minute'>): Framing {
  const zone = zoneOf(instrument)
  const { hours } = instrument
  const of = (at: Micros): Frame => {
    const [first, last] = stretch(tradingDate(at, hours, zone), unit)
    const label = closeOf(last, instrument)
    const end = midnight(last.add({ days: 1 }), zone) * 1_000
    return { start: midnight(first, zone) * 1_000, label, over: hours.startsWith('always') ? end : label }
  }
  const length = unit === 'Daily' ? DAY : unit === 'Weekly' ? 7 * DAY : 31 * DAY
  const regular = inSessions(MINUTE, 'Default')
  return { of: remembering(of), base: '1d', length, takes: minute => hours !== 'us_equity' || regular(minute) !== null }
}

/** A futures day begins on the evening before. */
function tradingDate(at: Micros, hours: Instrument['hours'], zone: string): Temporal.PlainDate {
  const time = Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1_000)).toZonedDateTimeISO(zone)
  const date = time.toPlainDate()
  return hours === 'cme' && time.hour >= HOUR_OF_CLOSE.futures ? date.add({ days: 1 }) : date
}

/** The first and the last date. */
function stretch(date: Temporal.PlainDate, unit: Exclude<Unit, 'Minute'>): readonly [Temporal.PlainDate, Temporal.PlainDate] {
  switch (unit) {
    case 'Daily':
      return [date, date]
    case 'Weekly': {
      const monday = date.subtract({ days: date.dayOfWeek - 1 })
      return [monday, monday.add({ days: 6 })]
    }
    case 'Monthly':
      return [date.with({ day: 1 }), date.with({ day: date.daysInMonth })]
  }
}

/** When the last session up to a date ends; where the sandbox trades without an end, when it would end on that very date. */
function closeOf(date: Temporal.PlainDate, { kind, hours }: Instrument): Micros {
  if (kind === 'CRYPTO') return midnight(date.add({ days: 1 }), 'UTC') * 1_000
  const calendar = usEquityCalendar()
  let last = date
  // Futures trade on nearly all of the exchange's days, and on no weekend.
  while (hours !== 'always' && (kind === 'FUT' ? last.dayOfWeek > FRIDAY : !calendar.isTradingDay(last.toString())))
    last = last.subtract({ days: 1 })
  const session = kind === 'FUT' ? undefined : calendar.spansOn(last.toString()).find(({ phase }) => phase === 'open')
  if (session !== undefined) return session.end * 1_000
  const hour = kind === 'FUT' ? HOUR_OF_CLOSE.futures : HOUR_OF_CLOSE.shares
  return last.toZonedDateTime({ timeZone: NEW_YORK, plainTime: { hour } }).epochMilliseconds * 1_000
}

function zoneOf({ kind }: Instrument): string {
  return kind === 'CRYPTO' ? 'UTC' : NEW_YORK
}

/** Neighbours ask after each other. */
function remembering(of: (at: Micros) => Frame): (at: Micros) => Frame {
  let last: Frame | undefined
  return at => {
    if (last === undefined || at < last.start || at >= last.over) last = of(at)
    return last
  }
}
