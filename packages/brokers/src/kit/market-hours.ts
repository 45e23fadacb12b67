/** When a venue trades: in the hours of its exchanges or, at a sandbox that never closes, always. */

import { continuousCalendar, type TradingCalendar } from '@trunkline/core/domain/calendar/index'

export type MarketHours = 'exchange' | 'always'

/** Its days begin at midnight in New York, as the sandbox's do. */
const ALWAYS = continuousCalendar('America/New_York')

/** The calendar of what trades by `usual` on its exchange. */
export function calendarFor(hours: MarketHours, usual: TradingCalendar): TradingCalendar {
  return hours === 'always' ? ALWAYS : usual
}
