/** What a trading calendar answers: which part of the day an instant falls in, and when that changes. */
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

/** The last year that dates are given for: later ones do not fit `YYYY-MM-DD`. */
export const LAST_YEAR = 9_998

/** A date or instant outside the years that a calendar knows the rules of. */
export class OutsideCalendar extends RangeError {
  override readonly name = 'OutsideCalendar'

  constructor(requested: string | number, firstYear: number) {
    super(`the calendar knows the years ${firstYear} to ${LAST_YEAR}, asked for ${requested}; ask for dates within them`)
  }
}

/** Dates are `YYYY-MM-DD` in the calendar's own zone; instants are milliseconds since the epoch. */
export interface TradingCalendar {
  readonly id: string
  /** The IANA zone that its dates and hours are written in. */
  readonly zone: string
  /** On how many days of a week trading dates can fall: 5 leaves weekends out. */
  readonly daysAWeek: 5 | 7
  /** The first date it knows; asking for earlier ones throws OutsideCalendar. */
  readonly firstDate: Day
  /** The date an instant falls on in the calendar's zone, a trading day or not. */
  dateAt(instant: number): Day
  /**
   * The open stretches of a trading date, ascending, none overlapping; empty when the market is closed all day. Where trading begins the evening
   * before, the stretches do too.
   */
  spansOn(date: string): readonly Span[]
  phaseAt(instant: number): Phase
  /** The first instant after `instant` at which {@link phaseAt} answers something else; null when it never does. */
  nextChange(instant: number): { readonly at: number; readonly phase: Phase } | null
  /** Whether there is a regular session on that date. */
  isTradingDay(date: string): boolean
  /** The first trading day after `date`. */
  nextTradingDay(date: string): Day
  /** The last trading day before `date`. */
  previousTradingDay(date: string): Day
}

/** The regular session of a date, or null when there is none. */
export function regularSession(calendar: TradingCalendar, date: string): Span | null {
  return calendar.spansOn(date).find(span => span.phase === 'open') ?? null
}
