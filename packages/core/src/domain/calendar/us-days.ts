/** Classifies dates for United States exchanges, cached by year. */
import { usEarlyCloses, usHolidays } from './us-holidays.ts'
import type { ZoneDate } from './zone.ts'

export type UsDay = 'weekend' | 'holiday' | 'early' | 'normal'

interface Year {
  readonly holidays: ReadonlySet<string>
  readonly early: ReadonlySet<string>
}

const FRIDAY = 5
/** Most years cached, a few hundred bytes each; more than any history needs. Bounded because clients choose the dates. */
const YEARS_MAX = 64

/** Returns the function that classifies a date. @throws OutsideCalendar */
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
