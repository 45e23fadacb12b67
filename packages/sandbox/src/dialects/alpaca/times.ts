/** Instants as Alpaca writes them. */
import { isoOf, type Micros } from '../frame/brokerage.ts'

const NEW_YORK = 'America/New_York'

/** `2026-11-03T15:10:17.660000Z` with three places more, which the sandbox does not have: readers must not stumble over them. */
export function nanosOf(at: Micros): string {
  return `${isoOf(at).slice(0, -1)}001Z`
}

/** To the second: `2026-11-03T15:10:00Z`, as bars are stamped. */
export function secondsOf(at: Micros): string {
  return `${new Date(Math.floor(at / 1000)).toISOString().slice(0, 19)}Z`
}

export function newYorkOf(at: Micros): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1000)).toZonedDateTimeISO(NEW_YORK)
}

const DATE = /^\d{4}-\d{2}-\d{2}$/

/** RFC 3339, or a date, which is its midnight in New York. Undefined for anything else; finer than microseconds is cut off. */
export function instantOf(text: string): Micros | undefined {
  try {
    const instant = DATE.test(text)
      ? Temporal.PlainDate.from(text, { overflow: 'reject' }).toZonedDateTime(NEW_YORK).toInstant()
      : Temporal.Instant.from(text)
    return Number(instant.epochNanoseconds / 1000n)
  } catch {
    return undefined
  }
}

/** When a day order and one good until cancelled end, remembered by the day they came: 16:00 of it, 16:15 ninety days on. */
export class Ends {
  #hour = -1
  #day: Micros = 0
  #gtc: Micros = 0

  day(at: Micros): Micros {
    this.#look(at)
    return this.#day
  }

  gtc(at: Micros): Micros {
    this.#look(at)
    return this.#gtc
  }

  #look(at: Micros): void {
    const hour = Math.floor(at / 3_600_000_000)
    if (hour === this.#hour) return
    this.#hour = hour
    const there = newYorkOf(at)
    const close = there.with({ hour: 16, minute: 0, second: 0, millisecond: 0, microsecond: 0, nanosecond: 0 })
    // After the close it is the next day's order.
    const last = Temporal.ZonedDateTime.compare(there, close) < 0 ? close : close.add({ days: 1 })
    this.#day = last.epochMilliseconds * 1000
    this.#gtc = close.add({ days: 90, minutes: 15 }).epochMilliseconds * 1000
  }
}
