/** The calendar of each session group, and the trading hours of its instruments. */
import {
  cmeCalendar,
  continuousCalendar,
  dateAtInstant,
  type TradingCalendar,
  usEquityCalendar,
  usOptionCalendar
} from '@trunkline/core/domain/calendar/index'
import type { Micros } from '../engine/types.ts'
import type { Hours, MarketGroup } from './types.ts'

/** `always`: everything trades without end. `exchange`: shares, options and futures have their exchanges' hours. Crypto never closes. */
export type CalendarChoice = 'always' | 'exchange'

export const NEW_YORK = 'America/New_York'

const EXCHANGES: {
  readonly [Group in Exclude<MarketGroup, 'crypto'>]: { readonly hours: Hours; readonly calendar: () => TradingCalendar }
} = {
  'us-equity': { hours: 'us_equity', calendar: usEquityCalendar },
  'us-option': { hours: 'us_option', calendar: usOptionCalendar },
  cme: { hours: 'cme', calendar: cmeCalendar }
}

export function calendarOf(group: MarketGroup, choice: CalendarChoice): TradingCalendar {
  if (group === 'crypto') return continuousCalendar('UTC')
  return choice === 'exchange' ? EXCHANGES[group].calendar() : continuousCalendar(NEW_YORK)
}

export function hoursOf(group: MarketGroup, choice: CalendarChoice): Hours {
  if (group === 'crypto') return 'always_utc'
  return choice === 'exchange' ? EXCHANGES[group].hours : 'always'
}

/** The date of an instant in New York, `YYYY-MM-DD`. */
export function newYorkDate(at: Micros): string {
  return dateAtInstant(at / 1_000, NEW_YORK)
}
