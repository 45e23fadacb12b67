/** Markets that never close: crypto, and the sandbox unless it follows an exchange's calendar. */
import { type Day, parseDay } from '../timestamp.ts'
import { LAST_YEAR, OutsideCalendar, type TradingCalendar } from './calendar.ts'
import { dateWithin, daysAfter, dayText, midnight, zoneDate } from './zone.ts'

const FIRST_YEAR = 1
/** Later years, and dates adjacent to them, have four digits. */
const QUICK_FROM = 1_000

/**
 * Open every day from midnight to midnight in `zone`, all in the regular session. Throws OutsideCalendar for instants outside the years 1
 * to 9998.
 */
export function continuousCalendar(zone = 'UTC'): TradingCalendar {
  function plain(date: string): Temporal.PlainDate {
    const plainDate = Temporal.PlainDate.from(parseDay(date, 'date'))
    if (plainDate.year < FIRST_YEAR || plainDate.year > LAST_YEAR) throw new OutsideCalendar(date, FIRST_YEAR)
    return plainDate
  }

  /** A shortcut, several times as fast as Temporal: a history reads thousands of dates. Null for dates that need Temporal. */
  function quick(date: string) {
    const found = zoneDate(date, zone)
    return found !== null && found.year > QUICK_FROM && found.year <= LAST_YEAR ? found : null
  }

  function after(date: string, days: 1 | -1): Day {
    return quick(date) === null ? dayText(plain(date).add({ days })) : daysAfter(date, days)
  }

  function midnights(date: string): { readonly start: number; readonly end: number } {
    return quick(date) ?? { start: midnight(plain(date), zone), end: midnight(plain(date).add({ days: 1 }), zone) }
  }

  return {
    id: 'continuous',
    zone,
    daysAWeek: 7,
    firstDate: dayText(Temporal.PlainDate.from({ year: FIRST_YEAR, month: 1, day: 1 })),
    dateAt: instant => dateWithin(instant, zone, FIRST_YEAR),
    spansOn(date) {
      const { start, end } = midnights(date)
      return [{ phase: 'open', start, end }]
    },
    phaseAt: () => 'open',
    nextChange: () => null,
    isTradingDay: () => true,
    nextTradingDay: date => after(date, 1),
    previousTradingDay: date => after(date, -1)
  }
}
