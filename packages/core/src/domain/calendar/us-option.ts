/** United States listed options: the regular session of the exchanges, on trading days of equities. */
import { calendarByDate } from './by-date.ts'
import type { TradingCalendar } from './calendar.ts'
import { usDays } from './us-days.ts'

const ZONE = 'America/New_York'
const HOUR = 3_600_000
const OPENS = 9.5
const CLOSES = { normal: 16, early: 13 }
/** Options on broad indexes and their funds trade a quarter of an hour longer. */
const QUARTER = 0.25

/**
 * Options trade from 09:30 to 16:00 New York time, until 13:00 on early-close days, all in the regular session. Dates before 1998 throw
 * OutsideCalendar, texts that are not dates Malformed.
 * @param underlying `index` for options on broad indexes, which trade until 16:15 (13:15)
 */
export function usOptionCalendar(underlying: 'equity' | 'index' = 'equity'): TradingCalendar {
  const dayOf = usDays()
  const longer = underlying === 'index' ? QUARTER : 0
  return calendarByDate({
    id: underlying === 'index' ? 'us-index-option' : 'us-option',
    zone: ZONE,
    daysAWeek: 5,
    spansOf(date) {
      const day = dayOf(date)
      if (day === 'weekend' || day === 'holiday') return []
      const { start } = date
      return [{ phase: 'open', start: start + OPENS * HOUR, end: start + (CLOSES[day] + longer) * HOUR }]
    }
  })
}
