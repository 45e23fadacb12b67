/** Markets that never close: crypto, and the sandbox when its calendar is not an exchange's. */
import { parseDay } from '../timestamp.ts'
import type { TradingCalendar } from './calendar.ts'
import { dateAtInstant, dayText, midnight } from './zone.ts'

/** Open every day from midnight to midnight in `zone`, all of it the regular session. */
export function continuousCalendar(zone = 'UTC'): TradingCalendar {
  const plain = (date: string): Temporal.PlainDate => Temporal.PlainDate.from(parseDay(date, 'date'))
  return {
    id: 'continuous',
    zone,
    dateAt: instant => dateAtInstant(instant, zone),
    spansOn: date => [{ phase: 'open', start: midnight(plain(date), zone), end: midnight(plain(date).add({ days: 1 }), zone) }],
    phaseAt: () => 'open',
    nextChange: () => null,
    isTradingDay: () => true,
    nextTradingDay: date => dayText(plain(date).add({ days: 1 })),
    previousTradingDay: date => dayText(plain(date).subtract({ days: 1 }))
  }
}
