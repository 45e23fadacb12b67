/** Where bars begin and end: intervals laid over the hours of a session. */
import type { TradingCalendar } from '../calendar/index.ts'
import type { Session } from '../vocabulary.ts'
import { dateBars } from './date-bars.ts'
import type { Interval } from './interval.ts'
import { minuteBars } from './minute-bars.ts'
import { type Stretch, sessionWindows } from './sessions.ts'

/**
 * The bars of one interval in one session. All instants are milliseconds since the epoch. Every method throws OutsideCalendar for instants outside
 * the years the calendar knows (exchanges: from 1998 on).
 *
 * - Minutes: counted from the open of each unbroken stretch of the session in elapsed time, and cut at its end. `4h` of `USEqCore` is
 *   09:30–13:30 and 13:30–16:00. Where the market never closes, a stretch is a day of the calendar's zone.
 * - Days: trading dates, from the first open to the last close. Several days are counted from the first trading date of each year and cut at
 *   the year's end.
 * - Weeks: the trading dates from a Monday to the Sunday after. Several weeks are counted from the week of Monday, 1970-01-05.
 * - Months, years: the trading dates of the calendar's months and years. Several months are counted from January and cut in December.
 */
export interface BarClock {
  readonly interval: Interval
  /** `BrokerDefault` for every instrument that is no equity. */
  readonly session: Session
  /** What `fits` wants to know of the session. */
  readonly gridMinutes: number
  /** The start of the bar an instant falls into; null outside the session. */
  startOf(instant: number): number | null
  /** The unbroken stretch of trading around an instant, as far as its bar goes; null outside the session. */
  stretchAt(instant: number): Stretch | null
  /**
   * The start of the bar that holds a date of the calendar, `YYYY-MM-DD`: for daily figures without a time. Null when it is no trading date, and
   * for bars of weeks and longer when the rest of the bar has none.
   */
  startOfDate(date: string): number | null
  /** The date an instant falls on in the calendar's zone, for {@link startOfDate}. */
  dateAt(instant: number): string
  /** The end, exclusive, of the bar that begins at `start`, a value {@link startOf} gave. Pauses within it belong to a bar of days and longer. */
  endOf(start: number): number
  /** The start of the bar after the one that begins at `start`. */
  next(start: number): number
  /** The start of the first bar that begins at `instant` or after it. */
  atOrAfter(instant: number): number
  /** The start of the last bar that begins before `instant`; null when that is before the calendar's first day. */
  before(instant: number): number | null
  /**
   * At least as many as bars begin in [fromMs, toMs), and cheap however long that is: exact for minutes and days in a market that
   * never closes in UTC, and for every window of up to 60 days; beyond that every weekday counts as a full trading day.
   */
  countAtMost(fromMs: number, toMs: number): number
}

/**
 * @param calendar the broker's own for the instrument
 * @param isEquity whether the sessions other than `BrokerDefault` apply to it
 */
export function barClock(interval: Interval, session: Session, calendar: TradingCalendar, isEquity: boolean): BarClock {
  const windows = sessionWindows(session, calendar, isEquity)
  return interval.unit === 'minute' ? minuteBars(interval, windows) : dateBars(interval, windows)
}
