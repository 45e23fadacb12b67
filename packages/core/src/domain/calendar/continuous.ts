/** Markets that never close: crypto, and the sandbox when its calendar is not an exchange's. */
import { type Day, parseDay } from '../timestamp.ts'
import { LAST_YEAR, OutsideCalendar, type TradingCalendar } from './calendar.ts'
import { dateWithin, daysAfter, dayText, midnight, zoneDate } from './zone.ts'

const FIRST_YEAR = 1
/** Years after it, and their neighbours' dates, are written with four digits. */
const QUICK_FROM = 1_000

/** Open every day from midnight to midnight in `zone`, all of it the regular session. Instants outside the years 1 to 9998 throw OutsideCalendar. */
export function continuousCalendar(zone = 'UTC'): TradingCalendar {
  function plain(date: string): Temporal.PlainDate {
    const plainDate = Temporal.PlainDate.from(parseDay(date, 'date'))
    if (plainDate.year < FIRST_YEAR || plainDate.year > LAST_YEAR) throw new OutsideCalendar(date, FIRST_YEAR)
    return plainDate
  }

  /** A history asks for thousands of dates, and Temporal takes several times as long. Null: only Temporal knows it. */
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
