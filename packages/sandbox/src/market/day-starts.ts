/** Days as bars: maps an instant to the midnight at the start of its date. */
import { dateAtInstant, daysAfter, midnight } from '@trunkline/core/domain/calendar/index'
import type { Micros } from '../engine/types.ts'

export interface DaySpan {
  readonly start: Micros
  readonly end: Micros
}

/** The day of an instant in a zone. Caches the last one, because consecutive calls are mostly about the same day. */
export function daysOf(zone: string): (at: Micros) => DaySpan {
  let last: DaySpan = { start: 0, end: 0 }
  return at => {
    if (at >= last.start && at < last.end) return last
    const date = dateAtInstant(at / 1_000, zone)
    last = { start: midnight(date, zone) * 1_000, end: midnight(daysAfter(date, 1), zone) * 1_000 }
    return last
  }
}
