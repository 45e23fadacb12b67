/** The one way to a {@link BarClock}. */
import type { TradingCalendar } from '../calendar/index.ts'
import type { Session } from '../vocabulary.ts'
import type { BarClock } from './bar-clock.ts'
import { dateBars } from './date-bars.ts'
import type { Interval } from './interval.ts'
import { minuteBars } from './minute-bars.ts'
import { sessionWindows } from './sessions.ts'

/**
 * @param calendar the broker's calendar of the instrument
 * @param isEquity whether sessions other than `BrokerDefault` apply to it
 */
export function barClock(interval: Interval, session: Session, calendar: TradingCalendar, isEquity: boolean): BarClock {
  const windows = sessionWindows(session, calendar, isEquity)
  return interval.unit === 'minute' ? minuteBars(interval, windows) : dateBars(interval, windows)
}
