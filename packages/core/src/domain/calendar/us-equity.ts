/** United States equities: 04:00, 09:30, 16:00 and 20:00 New York time, holidays and early closes by rule. */
import { type Day, parseDay } from '../timestamp.ts'
import type { Phase, Span, TradingCalendar } from './calendar.ts'
import { FIRST_YEAR, usEarlyCloses, usHolidays } from './us-holidays.ts'
import { dateAtInstant, dayText, midnight } from './zone.ts'

const ZONE = 'America/New_York'
const HOUR = 3_600_000
const FRIDAY = 5

// Hours after midnight on the wall clock. On an early day the late session runs to 17:00, as the exchanges that have one publish it.
const NORMAL = { pre: 4, open: 9.5, close: 16, end: 20 }
const EARLY = { ...NORMAL, close: 13, end: 17 }

interface Year {
  readonly holidays: ReadonlySet<string>
  readonly early: ReadonlySet<string>
}

interface Hours {
  readonly date: Day
  readonly start: number
  readonly end: number
  readonly spans: readonly Span[]
}

/**
 * The exchange calendar of United States equities, by rule from 1998 on; the closures that no rule foresees are known up to 2025.
 * Late openings and halts in mid-session are not kept. Dates before 1998 throw RangeError, texts that are no date Malformed.
 */
export function usEquityCalendar(): TradingCalendar {
  const years = new Map<number, Year>()
  let recent: Hours | null = null

  function year(of: number): Year {
    const known = years.get(of)
    if (known !== undefined) return known
    // One entry is a few hundred bytes, and nobody asks for more years than a history has; the bound is for a hostile caller.
    if (years.size >= 64) years.clear()
    const fresh = { holidays: usHolidays(of), early: usEarlyCloses(of) }
    years.set(of, fresh)
    return fresh
  }

  function dayOf(date: string): Hours {
    if (recent?.date === date) return recent
    const plain = plainDate(date)
    const { holidays, early } = year(plain.year)
    const start = midnight(plain, ZONE)
    const shut = plain.dayOfWeek > FRIDAY || holidays.has(date)
    recent = {
      date: dayText(plain),
      start,
      end: midnight(plain.add({ days: 1 }), ZONE),
      spans: shut ? [] : spans(start, early.has(date) ? EARLY : NORMAL)
    }
    return recent
  }

  function dayAt(instant: number): Hours {
    return recent !== null && instant >= recent.start && instant < recent.end ? recent : dayOf(dateAtInstant(instant, ZONE))
  }

  const isTradingDay = (date: string): boolean => dayOf(date).spans.length > 0

  return {
    id: 'us-equity',
    zone: ZONE,
    dateAt: instant => dayAt(instant).date,
    spansOn: date => dayOf(date).spans,
    phaseAt: instant => phaseWithin(dayAt(instant), instant),
    nextChange(instant) {
      let day = dayAt(instant)
      for (;;) {
        const change = changeWithin(day, instant)
        if (change !== null) return change
        day = dayOf(neighbour(day.date, 1))
      }
    },
    isTradingDay,
    nextTradingDay: date => seek(date, 1, isTradingDay),
    previousTradingDay: date => seek(date, -1, isTradingDay)
  }
}

// Every clock change of the zone falls on a Sunday, so hours after midnight are hours on the wall on every trading day.
function spans(midnightAt: number, hours: typeof NORMAL): readonly Span[] {
  const at = (hour: number): number => midnightAt + hour * HOUR
  return [
    { phase: 'pre', start: at(hours.pre), end: at(hours.open) },
    { phase: 'open', start: at(hours.open), end: at(hours.close) },
    { phase: 'post', start: at(hours.close), end: at(hours.end) }
  ]
}

function phaseWithin(day: Hours, instant: number): Phase {
  return day.spans.find(span => instant >= span.start && instant < span.end)?.phase ?? 'closed'
}

function changeWithin(day: Hours, instant: number): { readonly at: number; readonly phase: Phase } | null {
  for (const span of day.spans) {
    if (instant < span.start) return { at: span.start, phase: span.phase }
    if (instant < span.end) return { at: span.end, phase: phaseWithin(day, span.end) }
  }
  return null
}

function seek(from: string, step: 1 | -1, wanted: (date: string) => boolean): Day {
  let date = neighbour(from, step)
  while (!wanted(date)) date = neighbour(date, step)
  return date
}

function neighbour(date: string, step: 1 | -1): Day {
  return dayText(plainDate(date).add({ days: step }))
}

function plainDate(date: string): Temporal.PlainDate {
  const plain = Temporal.PlainDate.from(parseDay(date, 'date'))
  if (plain.year < FIRST_YEAR) throw new RangeError(`the exchange calendar begins in ${FIRST_YEAR}, asked for ${date}`)
  return plain
}
