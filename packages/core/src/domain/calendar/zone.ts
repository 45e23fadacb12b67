/** Dates of a zone and the instants they begin at. */
import type { Day } from '../timestamp.ts'

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
