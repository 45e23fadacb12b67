/** Bars of days, weeks, months and years: groups of trading dates, from the first open to the last close. */
import type { BarClock } from './bar-clock.ts'
import { dateGroups } from './date-groups.ts'
import type { Interval, IntervalUnit } from './interval.ts'
import type { SessionWindows, Stretch } from './sessions.ts'
import { coveredDates, EXACT_DAYS_MAX } from './window-days.ts'

/** One bar: its trading dates are in [first, beyond), and it lasts from its first open to its last close. */
interface DateBar {
  readonly first: string
  readonly beyond: string
  readonly start: number
  readonly end: number
}

/** The fewest days of each unit. */
const SHORTEST_DAYS = { minute: 1, day: 1, week: 7, month: 28, year: 365 } as const satisfies Record<IntervalUnit, number>

/** @param interval of days or longer */
export function dateBars(interval: Interval, windows: SessionWindows): BarClock {
  const { calendar } = windows
  const groupOf = dateGroups(interval, calendar)
  // Cache of the last bar: a live feed asks for the same one again and again.
  let recent: DateBar = { first: '', beyond: '', start: 0, end: 0 }
  // The stretch of the last instant, and the start of its bar.
  let stretch: Stretch = { start: 0, end: 0 }
  let startInStretch = 0

  /** The bar of a trading date. */
  function barOf(date: string): DateBar {
    if (date >= recent.first && date < recent.beyond) return recent
    const { first, beyond } = groupOf(date)
    // The calendar's first week begins before the calendar does.
    const known = first < calendar.firstDate ? calendar.firstDate : first
    const start = windows.on(atLeast(known))[0]?.start
    const end = windows.on(calendar.previousTradingDay(beyond)).at(-1)?.end
    if (start === undefined || end === undefined) throw new TypeError(`no open hours from ${first} to ${beyond}`)
    recent = { first, beyond, start, end }
    return recent
  }

  function atLeast(date: string): string {
    return windows.on(date).length > 0 ? date : windows.next(date)
  }

  function startOf(instant: number): number | null {
    if (instant >= stretch.start && instant < stretch.end) return startInStretch
    const date = windows.dateAt(instant)
    const within = windows.on(date).find(({ start, end }) => instant >= start && instant < end)
    if (within === undefined) return null
    startInStretch = barOf(date).start
    stretch = within
    return startInStretch
  }

  function barAt(start: number): DateBar {
    if (start === recent.start) return recent
    const bar = barOf(windows.dateAt(start))
    if (bar.start === start) return bar
    throw new RangeError(`no bar begins at ${start}; pass the start of a bar`)
  }

  function next(start: number): number {
    return barOf(atLeast(barAt(start).beyond)).start
  }

  function atOrAfter(instant: number): number {
    const bar = barOf(windows.dateAt(instant))
    return bar.start >= instant ? bar.start : next(bar.start)
  }

  return {
    interval,
    session: windows.session,
    gridMinutes: windows.gridMinutes,
    startOf,
    stretchAt: instant => (startOf(instant) === null ? null : stretch),
    startOfDate(date) {
      const bar = barOf(atLeast(date))
      return date >= bar.first ? bar.start : null
    },
    dateAt: instant => calendar.dateAt(instant),
    endOf: start => barAt(start).end,
    next,
    atOrAfter,
    before(instant) {
      const bar = barOf(windows.dateAt(instant))
      if (bar.start < instant) return bar.start
      const earlier = windows.previous(bar.first)
      return earlier === null ? null : barOf(earlier).start
    },
    countAtMost(fromMs, toMs) {
      if (toMs <= fromMs) return 0
      const { first, last, calendarDays, between } = coveredDates(windows, fromMs, toMs)
      if (calendarDays > EXACT_DAYS_MAX) {
        if (interval.unit === 'day' && interval.count === 1) {
          const within = ({ start }: DateBar): boolean => start >= fromMs && start < toMs
          return between + Number(within(barOf(first))) + Number(within(barOf(last)))
        }
        const shortest = interval.count * SHORTEST_DAYS[interval.unit]
        const days = interval.unit === 'day' ? between + 2 : calendarDays
        // Bars of several days or months are cut at the year's end, which adds a bar.
        return Math.ceil(days / shortest) + 2 + (interval.count > 1 ? Math.ceil(calendarDays / SHORTEST_DAYS.year) : 0)
      }
      let count = 0
      for (let start = atOrAfter(fromMs); start < toMs; start = next(start)) count++
      return count
    }
  }
}
