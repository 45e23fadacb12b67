/** Which dates form one bar of days, weeks, months or years. */
import { daysAfter, type TradingCalendar } from '../calendar/index.ts'
import type { Interval } from './interval.ts'

/** The dates of one bar: from `first`, a trading date or not, up to but excluding `beyond`, which is in the next bar. */
export interface DateGroup {
  readonly first: string
  readonly beyond: string
}

const DAYS_OF_WEEK = 7
/** Several weeks are counted from this Monday. */
const FIRST_MONDAY_MS = Date.UTC(1970, 0, 5)
const DAY_MS = 86_400_000
/** Most years whose trading dates are cached; a year has about 250 or 365. */
const YEARS_MAX = 4

/** Returns the function from a trading date to its group. */
export function dateGroups({ unit, count }: Interval, calendar: TradingCalendar): (date: string) => DateGroup {
  if (unit === 'day' && count === 1) return date => ({ first: date, beyond: calendar.nextTradingDay(date) })
  if (unit === 'day') return severalDays(count, calendar)
  if (unit === 'week') return date => weeks(date, count)
  if (unit === 'month') return date => months(Temporal.PlainDate.from(date), count)
  return date => ({ first: yearStart(Number(date.slice(0, 4))), beyond: yearStart(Number(date.slice(0, 4)) + 1) })
}

/** @param date of four-digit years */
function weeks(date: string, count: number): DateGroup {
  const length = count * DAYS_OF_WEEK
  const days = Math.round((Date.parse(date) - FIRST_MONDAY_MS) / DAY_MS)
  const first = daysAfter(date, Math.floor(days / length) * length - days)
  return { first, beyond: daysAfter(first, length) }
}

function months(date: Temporal.PlainDate, count: number): DateGroup {
  const month = Math.floor((date.month - 1) / count) * count + 1
  const first = date.with({ month, day: 1 })
  const beyond = month + count > 12 ? yearStart(date.year + 1) : first.add({ months: count }).toString()
  return { first: first.toString(), beyond }
}

function severalDays(count: number, calendar: TradingCalendar): (date: string) => DateGroup {
  const years = new Map<number, readonly string[]>()

  function datesOf(year: number): readonly string[] {
    const known = years.get(year)
    if (known !== undefined) return known
    const dates: string[] = []
    const beyond = yearStart(year + 1)
    const first = yearStart(year)
    for (
      let date: string = calendar.isTradingDay(first) ? first : calendar.nextTradingDay(first);
      date < beyond;
      date = calendar.nextTradingDay(date)
    )
      dates.push(date)
    if (years.size >= YEARS_MAX) years.clear()
    years.set(year, dates)
    return dates
  }

  return date => {
    const year = Number(date.slice(0, 4))
    const dates = datesOf(year)
    const index = dates.indexOf(date)
    if (index < 0) throw new RangeError(`${date} is not a trading date`)
    const first = index - (index % count)
    return { first: dates[first] ?? date, beyond: dates[first + count] ?? yearStart(year + 1) }
  }
}

function yearStart(year: number): string {
  return `${String(year).padStart(4, '0')}-01-01`
}
