/** Bars of minutes: counted from the open of each stretch and cut at its end. */
import type { BarClock } from './bar-clock.ts'
import type { Interval } from './interval.ts'
import type { SessionWindows, Stretch } from './sessions.ts'
import { coveredDates, EXACT_DAYS_MAX } from './window-days.ts'

const MINUTE = 60_000
/** An ordinary Wednesday: no trading date has longer hours, apart from hours carried over from holidays before it. */
const ORDINARY_DATE = '2026-11-18'

/** @param interval of minutes */
export function minuteBars(interval: Interval, windows: SessionWindows): BarClock {
  const length = interval.count * MINUTE
  // Cache of the last bar: a live feed asks for the same one again and again.
  let from = 0
  let until = 0
  // Where a market never closes, the day on which clocks go back is an hour longer. Trading days of exchanges never are.
  const { calendar } = windows
  const longerDay = calendar.daysAWeek === 7 && calendar.zone !== 'UTC' ? Math.ceil((60 * MINUTE) / length) : 0
  // The stretch that contains it.
  let stretch: Stretch = { start: 0, end: 0 }

  function barAt(instant: number): void {
    from = stretch.start + Math.floor((instant - stretch.start) / length) * length
    until = Math.min(from + length, stretch.end)
  }

  function startOf(instant: number): number | null {
    if (instant >= from && instant < until) return from
    if (instant < stretch.start || instant >= stretch.end) {
      const found = openAt(instant)
      if (found === null) return null
      stretch = found
    }
    barAt(instant)
    return from
  }

  // For an instant outside the session, the whole pause around it is cached.
  let pause: Stretch = { start: 0, end: 0 }

  function openAt(instant: number): Stretch | null {
    if (instant >= pause.start && instant < pause.end) return null
    const following = stretchEndingAfter(instant)
    if (instant >= following.start) return following
    pause = { start: instant, end: following.start }
    return null
  }

  /** The first stretch that ends after an instant. */
  function stretchEndingAfter(instant: number): Stretch {
    const found = windows.on(windows.dateAt(instant)).find(({ end }) => end > instant)
    if (found === undefined) throw new TypeError(`no stretch after ${instant} on its own trading date`)
    return found
  }

  function atOrAfter(instant: number): number {
    const start = startOf(instant)
    if (start === null) return stretchEndingAfter(instant).start
    return start === instant ? start : next(start)
  }

  function endOf(start: number): number {
    if (startOf(start) === null) throw outside(start)
    return until
  }

  function next(start: number): number {
    const end = endOf(start)
    return startOf(end) ?? stretchEndingAfter(end).start
  }

  function before(instant: number): number | null {
    // Trading on the evening before a date can belong to that date, so the search begins at the next trading date.
    for (let date: string | null = windows.dateAt(instant); date !== null; date = windows.previous(date)) {
      const earlier = windows.on(date).findLast(({ start }) => start < instant)
      if (earlier === undefined) continue
      const last = Math.min(earlier.end, instant) - 1
      return earlier.start + Math.floor((last - earlier.start) / length) * length
    }
    return null
  }

  /** The number of bars of a trading date that begin in [fromMs, toMs). */
  function countOn(date: string, fromMs: number, toMs: number): number {
    let count = 0
    for (const { start, end } of windows.on(date)) {
      const first = Math.max(0, Math.ceil((fromMs - start) / length))
      const beyond = Math.ceil((Math.min(end, toMs) - start) / length)
      count += Math.max(0, beyond - first)
    }
    return count
  }

  return {
    interval,
    session: windows.session,
    gridMinutes: windows.gridMinutes,
    startOf,
    stretchAt: instant => (startOf(instant) === null ? null : { start: from, end: until }),
    startOfDate: date => windows.on(date)[0]?.start ?? null,
    dateAt: instant => windows.calendar.dateAt(instant),
    endOf,
    next,
    atOrAfter,
    before,
    countAtMost(fromMs, toMs) {
      if (toMs <= fromMs) return 0
      const days = coveredDates(windows, fromMs, toMs)
      if (days.calendarDays > EXACT_DAYS_MAX) {
        const fullDay = countOn(ORDINARY_DATE, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY) + longerDay
        return countOn(days.first, fromMs, toMs) + days.between * fullDay + countOn(days.last, fromMs, toMs)
      }
      let count = 0
      for (let date = days.first; date <= days.last; date = windows.next(date)) count += countOn(date, fromMs, toMs)
      return count
    }
  }
}

function outside(start: number): RangeError {
  return new RangeError(`${start} is not in the session; pass the start of a bar`)
}
