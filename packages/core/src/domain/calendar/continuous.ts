/** Markets that never close: crypto, and the sandbox when its calendar is not an exchange's. */
import { parseDay } from '../timestamp.ts'
import { LAST_YEAR, OutsideCalendar, type TradingCalendar } from './calendar.ts'
import { dateWithin, dayText, midnight } from './zone.ts'

const FIRST_YEAR = 1

/** Open every day from midnight to midnight in `zone`, all of it the regular session. Instants outside the years 1 to 9998 throw OutsideCalendar. */
export function continuousCalendar(zone = 'UTC'): TradingCalendar {
  function plain(date: string): Temporal.PlainDate {
    const plainDate = Temporal.PlainDate.from(parseDay(date, 'date'))
    if (plainDate.year < FIRST_YEAR || plainDate.year > LAST_YEAR) throw new OutsideCalendar(date, FIRST_YEAR)
    return plainDate
  }

  return {
    id: 'continuous',
    zone,
    daysAWeek: 7,
    firstDate: dayText(Temporal.PlainDate.from({ year: FIRST_YEAR, month: 1, day: 1 })),
    dateAt: instant => dateWithin(instant, zone, FIRST_YEAR),
    spansOn: date => [{ phase: 'open', start: midnight(plain(date), zone), end: midnight(plain(date).add({ days: 1 }), zone) }],
    phaseAt: () => 'open',
    nextChange: () => null,
    isTradingDay: () => true,
    nextTradingDay: date => dayText(plain(date).add({ days: 1 })),
    previousTradingDay: date => dayText(plain(date).subtract({ days: 1 }))
  }
}
