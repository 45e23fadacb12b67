/** Equity index futures at the CME: Sunday 18:00 to Friday 17:00 New York time, with a daily pause from 17:00 to 18:00. */
import type { Day } from '../timestamp.ts'
import { calendarByDate } from './by-date.ts'
import type { Span, TradingCalendar } from './calendar.ts'
import { usDays } from './us-days.ts'
import { FIRST_YEAR, goodFriday } from './us-holidays.ts'
import { daysAfter, dayText, type ZoneDate, zoneDate } from './zone.ts'

const ZONE = 'America/New_York'
const HOUR = 3_600_000

// Hours after midnight in New York. A day's trading begins on the evening of the previous calendar day.
const EVENING = 18
const OPEN = 9.5
const CLOSE = 17
const EARLY_CLOSE = 13.25
const HOLIDAY_HALT = 13
const HOLIDAY_HALT_BEFORE_2014 = 11.5
const PAYROLLS_HALT = 9.25
const MOURNING_HALT = 9.5

/** Days on which the stock exchanges were closed, with no trading on the evening before either. */
const CLOSED_ONCE: ReadonlySet<string> = new Set([
  '2001-09-11',
  '2001-09-12',
  '2001-09-13',
  '2001-09-14',
  '2004-06-11',
  '2007-01-02',
  '2012-10-29',
  '2012-10-30',
  '2018-12-05'
])
/** Closed for mourning; traded until the hour at which the stock exchanges would have opened. */
const MOURNING = '2025-01-09'

/** The hours of one calendar day, from the evening before; null if it is closed altogether. */
interface Hours {
  readonly close: number
  /** Whether it has a regular session; holidays with shortened hours have none. */
  readonly regular: boolean
}

/**
 * The calendar of equity index futures (ES, NQ, RTY, YM and their micros), by rule from 1998 on.
 *
 * A trading date is the exchange's trade date: it begins at 18:00 on the previous evening and ends at 17:00, or at 13:15 on early-close
 * days of the stock exchanges. The regular session begins at 09:30; everything before is `pre`. On a holiday of the stock exchanges trading
 * halts at 13:00 (before May 2014 at 11:30), and its trades belong to the next trading date, which has an additional stretch for them.
 * Christmas, New Year's Day and Good Friday are closed from the evening before; a Good Friday on the first Friday of a month is open until
 * 09:15, for the payrolls report of that day.
 *
 * Not covered: the pause from 16:15 to 16:30 before 2021, the close at 17:15 before September 2015, and halts on single days. Dates before
 * 1998 throw OutsideCalendar, texts that are not dates Malformed.
 */
export function cmeCalendar(): TradingCalendar {
  const dayOf = usDays()

  function hoursOf(date: ZoneDate): Hours | null {
    const day = dayOf(date)
    if (day === 'weekend') return null
    if (day === 'normal') return { close: CLOSE, regular: true }
    if (day === 'early') return { close: EARLY_CLOSE, regular: true }
    const { text } = date
    if (text === MOURNING) return { close: MOURNING_HALT, regular: false }
    if (CLOSED_ONCE.has(text) || isYearsEnd(text)) return null
    if (text === dayText(goodFriday(date.year))) return dayOfMonth(text) <= 7 ? { close: PAYROLLS_HALT, regular: false } : null
    return { close: text < '2014-05-01' ? HOLIDAY_HALT_BEFORE_2014 : HOLIDAY_HALT, regular: false }
  }

  return calendarByDate({
    id: 'cme-equity-index',
    zone: ZONE,
    daysAWeek: 5,
    spansOf(date) {
      const hours = hoursOf(date)
      if (hours === null || !hours.regular) return []
      const spans = [
        { phase: 'pre', start: evening(date), end: at(date, OPEN) },
        { phase: 'open', start: at(date, OPEN), end: at(date, hours.close) }
      ] satisfies Span[]
      return [...shortenedBefore(date), ...spans]
    }
  })

  /** Hours traded on holidays since the previous trading date. */
  function shortenedBefore(date: ZoneDate): readonly Span[] {
    const spans: Span[] = []
    for (let before = eve(date); before !== null && before.year >= FIRST_YEAR; before = eve(before)) {
      const hours = hoursOf(before)
      if (hours?.regular === true) break
      if (hours !== null) spans.unshift({ phase: 'pre', start: evening(before), end: at(before, hours.close) })
    }
    return spans
  }
}

function dayOfMonth(date: Day): number {
  return Number(date.slice(8))
}

function isYearsEnd(date: Day): boolean {
  const [month, day] = [Number(date.slice(5, 7)), dayOfMonth(date)]
  return (month === 12 && day >= 24 && day <= 26) || (month === 1 && day <= 2)
}

function eve({ text }: ZoneDate): ZoneDate | null {
  return zoneDate(daysAfter(text, -1), ZONE)
}

function evening(date: ZoneDate): number {
  // On a Sunday on which clocks change, the evening comes after the change, so it is counted back from the midnight that follows it.
  return date.start - (24 - EVENING) * HOUR
}

// All clock changes of the zone are on Sundays, so on weekdays hours after midnight equal the wall clock.
function at(date: ZoneDate, hour: number): number {
  return date.start + hour * HOUR
}
