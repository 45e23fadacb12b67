/** Where bars begin and end: intervals applied to the hours of a session. */
import type { Session } from '../vocabulary.ts'
import type { Interval } from './interval.ts'
import type { Stretch } from './sessions.ts'

/**
 * The bars of one interval in one session. Instants are milliseconds since the epoch. Every method throws OutsideCalendar for instants
 * outside the years of the calendar (for exchanges, 1998 and later).
 *
 * - Minutes: counted in elapsed time from the open of each uninterrupted stretch of the session, and cut at its end. `4h` of `USEqCore` is
 *   09:30–13:30 and 13:30–16:00. If the market never closes, a stretch is a day in the calendar's zone.
 * - Days: trading dates, from the first open to the last close. Several days are counted from the first trading date of each year and cut
 *   at the year's end.
 * - Weeks: the trading dates from a Monday to the following Sunday. Several weeks are counted from the week of Monday, 1970-01-05.
 * - Months, years: the trading dates of the calendar's months and years. Several months are counted from January and cut in December.
 */
export interface BarClock {
  readonly interval: Interval
  /** `BrokerDefault` for every instrument that is not an equity. */
  readonly session: Session
  /** The argument that `fits` needs for this session. */
  readonly gridMinutes: number
  /** The start of the bar at an instant; null outside the session. */
  startOf(instant: number): number | null
  /** The uninterrupted trading hours around an instant, within its bar; null outside the session. */
  stretchAt(instant: number): Stretch | null
  /**
   * The start of the bar of a calendar date, `YYYY-MM-DD`, for daily figures without a time. Null if it is not a trading date; for bars of
   * weeks and longer, null if no trading date follows it within the bar.
   */
  startOfDate(date: string): number | null
  /** The date of an instant in the calendar's zone, for {@link startOfDate}. */
  dateAt(instant: number): string
  /**
   * The end, exclusive, of the bar that begins at `start`, a value of {@link startOf}. Bars of days and longer include the pauses within
   * them.
   */
  endOf(start: number): number
  /** The start of the bar after the one that begins at `start`. */
  next(start: number): number
  /** The start of the first bar that begins at `instant` or later. */
  atOrAfter(instant: number): number
  /** The start of the last bar that begins before `instant`; null before the calendar's first day. */
  before(instant: number): number | null
  /**
   * An upper bound of the number of bars that begin in [fromMs, toMs), cheap for any length. Exact for minutes and days in a market that
   * never closes in UTC, and for windows of up to 60 days. Beyond that, every weekday counts as a full trading day.
   */
  countAtMost(fromMs: number, toMs: number): number
}
