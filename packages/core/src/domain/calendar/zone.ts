/** Dates of a zone and the instants they begin at. */
import type { Day } from '../timestamp.ts'
import { LAST_YEAR, OutsideCalendar } from './calendar.ts'

/** A plain date as the text it is known by. */
export function dayText(date: Temporal.PlainDate): Day {
  return date.toString() as Day
}

/** The date that an instant (milliseconds since the epoch) falls on in an IANA zone. */
export function dateAtInstant(instant: number, zone: string): Day {
  return dayText(Temporal.Instant.fromEpochMilliseconds(Math.floor(instant)).toZonedDateTimeISO(zone).toPlainDate())
}

/** The instant, in milliseconds since the epoch, at which a date begins in an IANA zone. */
export function midnight(date: Temporal.PlainDate | string, zone: string): number {
  return Temporal.PlainDate.from(date).toZonedDateTime(zone).epochMilliseconds
}

/** As {@link dateAtInstant}. @throws OutsideCalendar for an instant that is not within `firstYear` to {@link LAST_YEAR} */
export function dateWithin(instant: number, zone: string, firstYear: number): Day {
  const year = new Date(instant).getUTCFullYear()
  if (year >= firstYear - 1 && year <= LAST_YEAR + 1) {
    const date = dateAtInstant(instant, zone)
    if (Number(date.slice(0, 4)) >= firstYear && Number(date.slice(0, 4)) <= LAST_YEAR) return date
  }
  throw new OutsideCalendar(Number.isNaN(year) ? instant : new Date(instant).toISOString(), firstYear)
}
