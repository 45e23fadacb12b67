/** The dates that a window of time touches, for counting bars without walking through them all. */
import type { SessionWindows } from './sessions.ts'

/** Windows of up to this many days are counted date by date: some milliseconds at worst. */
export const EXACT_DAYS_MAX = 60

const DAY = 86_400_000

export interface WindowDays {
  /** The trading dates that the first and the last instant belong to. */
  readonly first: string
  readonly last: string
  /** Days from first to last, both counted. */
  readonly calendarDays: number
  /** How many trading dates can lie between the two at most. */
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

/** Weekdays among the `days` days after a date. */
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
