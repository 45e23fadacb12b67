/** Trading calendars: the phase of the trading day at an instant, and its next change. */
import type { Day } from '../timestamp.ts'

/** `open` is the regular session; `pre` and `post` are the extended hours around it. */
export const PHASES = ['pre', 'open', 'post', 'closed'] as const
export type Phase = (typeof PHASES)[number]

/** An unbroken stretch of one phase, in milliseconds since the epoch; `end` is exclusive. */
export interface Span {
  readonly phase: Exclude<Phase, 'closed'>
  readonly start: number
  readonly end: number
}

/** The last supported year: later dates do not fit `YYYY-MM-DD`. */
export const LAST_YEAR = 9_998

/** A date or instant outside the years that a calendar has rules for. */
export class OutsideCalendar extends RangeError {
  override readonly name = 'OutsideCalendar'

  constructor(requested: string | number, firstYear: number) {
    super(`the calendar knows the years ${firstYear} to ${LAST_YEAR}, got ${requested}; use dates within them`)
  }
}

/** Dates are `YYYY-MM-DD` in the calendar's own zone; instants are milliseconds since the epoch. */
export interface TradingCalendar {
  readonly id: string
  /** The IANA zone of its dates and hours. */
  readonly zone: string
  /** Days of a week that can be trading dates: 5 excludes weekends. */
  readonly daysAWeek: 5 | 7
  /** The first supported date; earlier ones throw OutsideCalendar. */
  readonly firstDate: Day
  /** The date of an instant in the calendar's zone, whether or not it is a trading day. */
  dateAt(instant: number): Day
  /**
   * The open stretches of a trading date, ascending and not overlapping; empty if the market is closed all day. If trading begins on the
   * previous evening, so do the stretches.
   */
  spansOn(date: string): readonly Span[]
  phaseAt(instant: number): Phase
  /** The first instant after `instant` at which {@link phaseAt} changes; null if it never does. */
  nextChange(instant: number): { readonly at: number; readonly phase: Phase } | null
  /** Whether there is a regular session on that date. */
  isTradingDay(date: string): boolean
  /** The first trading day after `date`. */
  nextTradingDay(date: string): Day
  /** The last trading day before `date`. */
  previousTradingDay(date: string): Day
}

/** The regular session of a date; null if there is none. */
export function regularSession(calendar: TradingCalendar, date: string): Span | null {
  return calendar.spansOn(date).find(span => span.phase === 'open') ?? null
}
