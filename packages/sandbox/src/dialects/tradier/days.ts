/** Days and times of New York, in which Tradier counts. */

import type { Micros } from '../frame/brokerage.ts'

export const NEW_YORK = 'America/New_York'

export function localOf(at: Micros): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1000)).toZonedDateTimeISO(NEW_YORK)
}

export function dayOf(at: Micros): Temporal.PlainDate {
  return localOf(at).toPlainDate()
}

export function startOfDay(day: Temporal.PlainDate): Micros {
  return day.toZonedDateTime({ timeZone: NEW_YORK }).epochMilliseconds * 1000
}
