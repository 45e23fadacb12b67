/** The dates of a time window, for counting bars without visiting each of them. */
import type { SessionWindows } from './sessions.ts'

/** Windows of up to this many days are counted date by date, which takes some milliseconds at most. */
export const EXACT_DAYS_MAX = 60

const DAY = 86_400_000

export interface WindowDays {
  /** The trading dates of the first and the last instant. */
  readonly first: string
  readonly last: string
  /** Days from first to last, both included. */
  readonly calendarDays: number
  /** Most trading dates that can lie between the two. */
  readonly between: number
}

/** @param toMs exclusive, after `fromMs` */
export function coveredDates(windows: SessionWindows, fromMs: number, toMs: number): WindowDays {
  const first = windows.dateAt(fromMs)
  const last = windows.dateAt(toMs - 1)
  const calendarDays = Math.round((Date.parse(last) - Date.parse(first)) / DAY) + 1
  const inside = Math.max(0, calendarDays - 2)
  return { first, last, calendarDays, between: windows.calendar.daysAWeek === 7 ? inside : weekdays(first, inside) }
}

/** The number of weekdays among the `days` days after a date. */
function weekdays(date: string, days: number): number {
  const whole = Math.floor(days / 7)
  const firstWeekday = new Date(Date.parse(date) + DAY).getUTCDay()
  let count = whole * 5
  for (let day = 0; day < days % 7; day++) {
    const weekday = (firstWeekday + day) % 7
    if (weekday !== 0 && weekday !== 6) count++
  }
  return count
}
