/** United States equities: 04:00, 09:30, 16:00 and 20:00 New York time, holidays and early closes by rule. */
import { calendarByDate } from './by-date.ts'
import type { Span, TradingCalendar } from './calendar.ts'
import { usDays } from './us-days.ts'

const ZONE = 'America/New_York'
const HOUR = 3_600_000

// Wall-clock hours after midnight. On early-close days the post-market session ends at 17:00, as published by the exchanges that have one.
const NORMAL = { pre: 4, open: 9.5, close: 16, end: 20 }
const EARLY = { ...NORMAL, close: 13, end: 17 }

/**
 * The exchange calendar of United States equities, by rule from 1998 on. Unscheduled closures are listed up to 2025. Late openings and
 * halts during a session are not covered. Dates before 1998 throw OutsideCalendar, texts that are not dates Malformed.
 */
export function usEquityCalendar(): TradingCalendar {
  const dayOf = usDays()
  return calendarByDate({
    id: 'us-equity',
    zone: ZONE,
    daysAWeek: 5,
    spansOf(date) {
      const day = dayOf(date)
      if (day === 'weekend' || day === 'holiday') return []
      return spans(date.start, day === 'early' ? EARLY : NORMAL)
    }
  })
}

// All clock changes of the zone are on Sundays, so on trading days hours after midnight equal the wall clock.
function spans(midnightAt: number, hours: typeof NORMAL): readonly Span[] {
  const at = (hour: number): number => midnightAt + hour * HOUR
  return [
    { phase: 'pre', start: at(hours.pre), end: at(hours.open) },
    { phase: 'open', start: at(hours.open), end: at(hours.close) },
    { phase: 'post', start: at(hours.close), end: at(hours.end) }
  ]
}
