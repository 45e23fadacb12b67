/** What kind of day a date is for United States exchanges, remembered by year. */
import { usEarlyCloses, usHolidays } from './us-holidays.ts'
import type { ZoneDate } from './zone.ts'

export type UsDay = 'weekend' | 'holiday' | 'early' | 'normal'

interface Year {
  readonly holidays: ReadonlySet<string>
  readonly early: ReadonlySet<string>
}

const FRIDAY = 5
/** One year is a few hundred bytes, and no caller asks for more years than a history has; the bound is for a hostile caller. */
const YEARS_MAX = 64

/** Answers what kind of day a date is. @throws OutsideCalendar */
export function usDays(): (date: Pick<ZoneDate, 'text' | 'year' | 'weekday'>) => UsDay {
  const years = new Map<number, Year>()

  function year(of: number): Year {
    const known = years.get(of)
    if (known !== undefined) return known
    if (years.size >= YEARS_MAX) years.clear()
    const fresh = { holidays: usHolidays(of), early: usEarlyCloses(of) }
    years.set(of, fresh)
    return fresh
  }

  return ({ text, year: of, weekday }) => {
    if (weekday > FRIDAY) return 'weekend'
    const { holidays, early } = year(of)
    if (holidays.has(text)) return 'holiday'
    return early.has(text) ? 'early' : 'normal'
  }
}
