/** When a venue trades: in its exchanges' hours, or always, in a sandbox that never closes. */

import { continuousCalendar, type TradingCalendar } from '@trunkline/core/domain/calendar/index'

export type MarketHours = 'exchange' | 'always'

/** Its days begin at midnight in New York, as the sandbox's do. */
const ALWAYS = continuousCalendar('America/New_York')

/** The calendar of an instrument whose exchange trades by `usual`. */
export function calendarFor(hours: MarketHours, usual: TradingCalendar): TradingCalendar {
  return hours === 'always' ? ALWAYS : usual
}
