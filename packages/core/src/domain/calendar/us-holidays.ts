/** The days on which United States equity exchanges are closed or close early: by rule, plus unscheduled ones. */
import { OutsideCalendar } from './calendar.ts'

/** The first year that the rules hold for: the exchanges first observed Martin Luther King Day in 1998. */
export const FIRST_YEAR = 1998

// Unscheduled closures.
const CLOSED_ONCE: ReadonlySet<string> = new Set([
  '2001-09-11', // attacks of September 11th
  '2001-09-12',
  '2001-09-13',
  '2001-09-14',
  '2004-06-11', // mourning for President Reagan
  '2007-01-02', // mourning for President Ford
  '2012-10-29', // hurricane Sandy
  '2012-10-30',
  '2018-12-05', // mourning for President G. H. W. Bush
  '2025-01-09' // mourning for President Carter
])

const EARLY_ONCE: ReadonlySet<string> = new Set([
  '1999-12-31', // eve of the year 2000
  '2003-12-26' // the Friday after Christmas
])

const MONDAY = 1
const WEDNESDAY = 3
const THURSDAY = 4
const FRIDAY = 5
const SATURDAY = 6
const SUNDAY = 7

type Date = Temporal.PlainDate

/**
 * The full-day closures of a year, as `YYYY-MM-DD`. Weekends are not listed.
 * @throws OutsideCalendar before {@link FIRST_YEAR}
 */
export function usHolidays(year: number): ReadonlySet<string> {
  if (!Number.isInteger(year) || year < FIRST_YEAR) throw new OutsideCalendar(year, FIRST_YEAR)
  const days = [
    newYear(year),
    nthWeekday(year, 1, MONDAY, 3), // Martin Luther King
    nthWeekday(year, 2, MONDAY, 3), // Washington
    goodFriday(year),
    lastMondayOfMay(year), // Memorial Day
    year >= 2022 ? observed(day(year, 6, 19)) : null, // Juneteenth
    observed(day(year, 7, 4)), // Independence Day
    nthWeekday(year, 9, MONDAY, 1), // Labor Day
    thanksgiving(year),
    observed(day(year, 12, 25)) // Christmas
  ]
  const dates = days.flatMap(date => (date === null ? [] : [date.toString()]))
  const once = [...CLOSED_ONCE].filter(date => date.startsWith(`${year}-`))
  return new Set([...dates, ...once])
}

/**
 * The days of a year with a regular session that ends at 13:00, as `YYYY-MM-DD`.
 * @throws OutsideCalendar before {@link FIRST_YEAR}
 */
export function usEarlyCloses(year: number): ReadonlySet<string> {
  const holidays = usHolidays(year)
  const days = [thanksgiving(year).add({ days: 1 }), day(year, 12, 24), ...aroundIndependenceDay(year)]
  const dates = days.filter(date => date.dayOfWeek <= FRIDAY).map(date => date.toString())
  const once = [...EARLY_ONCE].filter(date => date.startsWith(`${year}-`))
  return new Set([...dates, ...once].filter(date => !holidays.has(date)))
}

/** @param year any of the Gregorian calendar */
export function goodFriday(year: number): Date {
  return easterSunday(year).subtract({ days: 2 })
}

/** A holiday on a Sunday is observed on Monday, one on a Saturday on Friday. */
function observed(date: Date): Date {
  if (date.dayOfWeek === SUNDAY) return date.add({ days: 1 })
  return date.dayOfWeek === SATURDAY ? date.subtract({ days: 1 }) : date
}

/** A New Year's Day on a Saturday is not observed: the Friday before ends an accounting year. */
function newYear(year: number): Date | null {
  const first = day(year, 1, 1)
  return first.dayOfWeek === SATURDAY ? null : observed(first)
}

/** The eve, if it is a working day. If the holiday was a Thursday, the Friday after it was shortened until 2012, the eve since. */
function aroundIndependenceDay(year: number): readonly Date[] {
  const eve = day(year, 7, 3)
  if (eve.dayOfWeek !== WEDNESDAY) return eve.dayOfWeek <= THURSDAY ? [eve] : []
  return year >= 2013 ? [eve] : [day(year, 7, 5)]
}

function thanksgiving(year: number): Date {
  return nthWeekday(year, 11, THURSDAY, 4)
}

function lastMondayOfMay(year: number): Date {
  const last = day(year, 5, 31)
  return last.subtract({ days: last.dayOfWeek - MONDAY })
}

function nthWeekday(year: number, month: number, weekday: number, nth: number): Date {
  const first = day(year, month, 1)
  return first.add({ days: ((weekday - first.dayOfWeek + 7) % 7) + 7 * (nth - 1) })
}

// Gauss's method for the Gregorian calendar, with the variable names of the literature.
function easterSunday(year: number): Date {
  const a = year % 19
  const b = Math.floor(year / 100)
  const c = year % 100
  const d = Math.floor(b / 4)
  const e = b % 4
  const g = Math.floor((8 * b + 13) / 25)
  const h = (19 * a + b - d - g + 15) % 30
  const i = Math.floor(c / 4)
  const k = c % 4
  const l = (32 + 2 * e + 2 * i - h - k) % 7
  const m = Math.floor((a + 11 * h + 22 * l) / 451)
  const n = h + l - 7 * m + 114
  return day(year, Math.floor(n / 31), (n % 31) + 1)
}

function day(year: number, month: number, date: number): Date {
  return Temporal.PlainDate.from({ year, month, day: date }, { overflow: 'reject' })
}
