/** The hours of a session on each trading date, for one instrument. */
import { midnight, OutsideCalendar, type Span, type TradingCalendar, usEquityCalendar } from '../calendar/index.ts'
import type { Day } from '../timestamp.ts'
import type { Session } from '../vocabulary.ts'
import { EXCHANGE_GRID_MINUTES } from './interval.ts'

/** An uninterrupted time in which a session is open, in milliseconds since the epoch; `end` is exclusive. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

/** The hours of one session, by trading date. They may begin on the evening before the date. */
export interface SessionWindows {
  /** `BrokerDefault` if the requested session does not apply. */
  readonly session: Session
  /** The calendar of the trading dates. */
  readonly calendar: TradingCalendar
  /** Every start of a stretch, and every end that adjoins other trading, is a multiple of this many minutes after midnight. */
  readonly gridMinutes: number
  /**
   * The open stretches of a trading date, ascending, neither overlapping nor adjoining; empty if there are none. @throws OutsideCalendar
   */
  on(date: string): readonly Stretch[]
  /** The trading date of an instant: the first whose hours end after it. @throws OutsideCalendar */
  dateAt(instant: number): Day
  /** The first trading date with open hours after `date`. */
  next(date: string): Day
  /** The last trading date with open hours before `date`; null before the calendar's first. */
  previous(date: string): Day | null
}

const HOUR = 3_600_000
/** The overnight session begins at 20:00 on the previous calendar day. */
const OVERNIGHT_BEGINS = 20

/** An ordinary Wednesday. */
const ORDINARY_DATE = '2026-11-18'

const EXCHANGE = usEquityCalendar()

type Pick = (spans: readonly Span[]) => readonly Stretch[]

/** Whether a market follows the hours of the United States equity exchanges, which the sessions are parts of. */
export function keepsExchangeHours({ id }: TradingCalendar): boolean {
  return id === EXCHANGE.id
}

const HOURS: Readonly<Record<Exclude<Session, 'BrokerDefault' | 'USEq24Hour'>, Pick>> = {
  USEqCore: spans => spans.filter(span => span.phase === 'open'),
  USEqPreMkt: spans => spans.filter(span => span.phase === 'pre'),
  USEqPostMkt: spans => spans.filter(span => span.phase === 'post'),
  USEqPreAndPostMkt: spans => spans.filter(span => span.phase !== 'open')
}

/**
 * The hours of `session` for an instrument.
 *
 * `BrokerDefault`, and any session for an instrument that is not an equity, is every phase of the broker's own calendar except `closed`.
 * The other sessions always follow the exchange calendar of United States equities, whatever the broker's hours: `USEqCore` 09:30–16:00 (to
 * 13:00 on early-close days), `USEqPreMkt` 04:00–09:30, `USEqPostMkt` 16:00–20:00 (13:00–17:00 on early-close days), `USEqPreAndPostMkt`
 * both of these.
 *
 * `USEq24Hour` is the whole trading day and the overnight session before it: from 20:00 on the previous calendar day to the end of the
 * post-market session. Overnight venues define it this way (Blue Ocean ATS: 20:00 to 04:00, Sunday to Thursday; trades before midnight
 * count for the next day). The day after a weekend or holiday begins on the last evening of that weekend or holiday; on the evening before
 * a weekend or holiday nothing opens.
 */
export function sessionWindows(session: Session, calendar: TradingCalendar, isEquity: boolean): SessionWindows {
  if (session === 'BrokerDefault' || !isEquity) {
    return windows('BrokerDefault', calendar, gridOf(calendar), date => merged(calendar.spansOn(date)))
  }
  if (session === 'USEq24Hour') return windows(session, EXCHANGE, EXCHANGE_GRID_MINUTES, wholeDay)
  const pick = HOURS[session]
  return windows(session, EXCHANGE, EXCHANGE_GRID_MINUTES, date => pick(EXCHANGE.spansOn(date)))
}

function windows(
  session: Session,
  calendar: TradingCalendar,
  gridMinutes: number,
  on: (date: string) => readonly Stretch[]
): SessionWindows {
  // Instants from here to the end of the date's last stretch belong to `ahead`.
  let ahead: { readonly date: Day; readonly from: number; readonly end: number } | null = null

  return {
    session,
    calendar,
    gridMinutes,
    on,
    dateAt(instant) {
      if (ahead !== null && instant >= ahead.from && instant < ahead.end) return ahead.date
      let date = calendar.dateAt(instant)
      for (;;) {
        const end = on(date).at(-1)?.end
        if (end !== undefined && end > instant) {
          ahead = { date, from: instant, end }
          return date
        }
        date = calendar.nextTradingDay(date)
      }
    },
    next: date => calendar.nextTradingDay(date),
    previous(date) {
      try {
        return calendar.previousTradingDay(date)
      } catch (cause) {
        if (cause instanceof OutsideCalendar) return null
        throw cause
      }
    }
  }
}

function wholeDay(date: string): readonly Stretch[] {
  const end = EXCHANGE.spansOn(date).at(-1)?.end
  if (end === undefined) return []
  // Clocks change on Sunday mornings, so the evening before a weekday is a whole number of hours before its midnight.
  return [{ start: midnight(date, EXCHANGE.zone) - (24 - OVERNIGHT_BEGINS) * HOUR, end }]
}

/** In minutes: a day in UTC, an hour if the days begin on one, else half an hour. */
function gridOf(calendar: TradingCalendar): number {
  if (calendar.daysAWeek === 7) return calendar.zone === 'UTC' ? 1_440 : 60
  return merged(calendar.spansOn(ORDINARY_DATE)).every(({ start }) => start % HOUR === 0) ? 60 : EXCHANGE_GRID_MINUTES
}

/** Joins stretches that adjoin. */
function merged(spans: readonly Span[]): readonly Stretch[] {
  const stretches: { start: number; end: number }[] = []
  for (const { start, end } of spans) {
    const last = stretches.at(-1)
    if (last !== undefined && last.end === start) last.end = end
    else stretches.push({ start, end })
  }
  return stretches
}
