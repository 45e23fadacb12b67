/** Makes a calendar from a rule that gives the hours of a date. */
import { type Day, parseDay } from '../timestamp.ts'
import { LAST_YEAR, OutsideCalendar, type Phase, type Span, type TradingCalendar } from './calendar.ts'
import { FIRST_YEAR } from './us-holidays.ts'
import { dateWithin, daysAfter, dayText, type ZoneDate, zoneDate } from './zone.ts'

export interface DateRule {
  readonly id: string
  readonly zone: string
  readonly daysAWeek: 5 | 7
  /**
   * The open stretches of a trading date. They may begin on earlier calendar days, but not before the previous trading date's stretches
   * end.
   */
  spansOf(date: ZoneDate): readonly Span[]
}

interface Dated {
  readonly date: Day
  /** Midnight to midnight. */
  readonly start: number
  readonly end: number
  readonly spans: readonly Span[]
  /** The next date, and the trading days before and after, once they were computed. */
  next: Day | null
  nextTrading: Day | null
  previousTrading: Day | null
}

/**
 * Most dates cached: enough for every day of thirty years, which a history reads repeatedly; about six megabytes. Bounded because clients
 * choose the dates.
 */
const REMEMBERED_MAX = 12_000

/** A calendar by `rule`, from {@link FIRST_YEAR} on. Throws OutsideCalendar for other dates and Malformed for texts that are not dates. */
export function calendarByDate(rule: DateRule): TradingCalendar {
  const { zone } = rule
  const known = new Map<string, Dated>()
  let recent: Dated | null = null
  // Instants from here to the end of the day's last stretch belong to `ahead`.
  let aheadFrom = 0
  let ahead: Dated | null = null

  function dayOf(date: string): Dated {
    if (recent?.date === date) return recent
    let day = known.get(date)
    if (day === undefined) {
      const of = knownDate(date, zone)
      day = {
        date: of.text,
        start: of.start,
        end: of.end,
        spans: rule.spansOf(of),
        next: null,
        nextTrading: null,
        previousTrading: null
      }
      if (known.size >= REMEMBERED_MAX) known.clear()
      known.set(date, day)
    }
    recent = day
    return day
  }

  function dayAt(instant: number): Dated {
    if (recent !== null && instant >= recent.start && instant < recent.end) return recent
    return dayOf(dateWithin(instant, zone, FIRST_YEAR))
  }

  /** The first date, from `day` on, whose stretches end after an instant. */
  function unfinished(day: Dated, instant: number): Dated {
    let found = day
    while (lastEnd(found) <= instant) {
      found.next ??= daysAfter(found.date, 1)
      found = dayOf(found.next)
    }
    return found
  }

  /** The first date whose stretches end after an instant. */
  function dayAhead(instant: number): Dated {
    if (ahead !== null && instant >= aheadFrom && instant < lastEnd(ahead)) return ahead
    const first = dayAt(instant)
    const day = unfinished(first, instant)
    ahead = day
    // The answer is the same from the beginning of that date on, or, if its stretches are over, from their end on.
    aheadFrom = day === first ? first.start : Math.max(first.start, lastEnd(first))
    return day
  }

  const isTradingDay = (date: string): boolean => dayOf(date).spans.some(span => span.phase === 'open')

  return {
    id: rule.id,
    zone,
    daysAWeek: rule.daysAWeek,
    firstDate: dayText(Temporal.PlainDate.from({ year: FIRST_YEAR, month: 1, day: 1 })),
    dateAt: instant => dayAt(instant).date,
    spansOn: date => dayOf(date).spans,
    phaseAt: instant => phaseWithin(dayAhead(instant), instant),
    nextChange(instant) {
      const day = dayAhead(instant)
      for (const span of day.spans) {
        if (instant < span.start) return { at: span.start, phase: span.phase }
        if (instant < span.end) return { at: span.end, phase: phaseWithin(unfinished(day, span.end), span.end) }
      }
      throw new TypeError(`${rule.id} has no stretch after ${instant} on ${day.date}`)
    },
    isTradingDay,
    nextTradingDay(date) {
      const day = dayOf(date)
      day.nextTrading ??= seek(day.date, 1, isTradingDay)
      return day.nextTrading
    },
    previousTradingDay(date) {
      const day = dayOf(date)
      day.previousTrading ??= seek(day.date, -1, isTradingDay)
      return day.previousTrading
    }
  }
}

/** @throws OutsideCalendar before {@link FIRST_YEAR} and after {@link LAST_YEAR}, Malformed for a text that is not a date */
function knownDate(date: string, zone: string): ZoneDate {
  const found = zoneDate(date, zone) ?? zoneDate(Temporal.PlainDate.from(parseDay(date, 'date')).toString(), zone)
  if (found === null || found.year < FIRST_YEAR || found.year > LAST_YEAR) throw new OutsideCalendar(date, FIRST_YEAR)
  return found
}

function lastEnd(day: Dated): number {
  return day.spans.at(-1)?.end ?? Number.NEGATIVE_INFINITY
}

function phaseWithin(day: Dated, instant: number): Phase {
  return day.spans.find(span => instant >= span.start && instant < span.end)?.phase ?? 'closed'
}

function seek(from: Day, step: 1 | -1, wanted: (date: string) => boolean): Day {
  let date = daysAfter(from, step)
  while (!wanted(date)) date = daysAfter(date, step)
  return date
}
