import type { Brand } from './brand.ts'
import { Malformed } from './malformed.ts'

/** An instant in UTC with microseconds: `2026-11-21T14:30:00.123456Z`. Texts of equal length, so they sort as time does. */
export type Timestamp = Brand<string, 'Timestamp'>

/** A calendar day, `YYYY-MM-DD`, of the zone its context names. */
export type Day = Brand<string, 'Day'>

const OFFSET_DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)$/
const MARKET_ZONE = 'America/New_York'

/** Reads an ISO 8601 date-time with an offset. @throws Malformed naming `what`. */
export function parseTimestamp(text: unknown, what: string): Timestamp {
  if (typeof text === 'string' && text.length <= 40 && OFFSET_DATE_TIME.test(text)) {
    try {
      return timestampOf(Temporal.Instant.from(text.toUpperCase()))
    } catch {
      // A date that does not exist (February 30) is malformed as well.
    }
  }
  throw new Malformed(what, 'an ISO 8601 date-time with an offset, such as 2026-11-21T14:30:00Z', text)
}

/** Microseconds are kept; nanoseconds beyond them are cut, never rounded into the future. */
export function timestampOf(instant: Temporal.Instant): Timestamp {
  return instant.toString({ fractionalSecondDigits: 6, roundingMode: 'floor' }) as Timestamp
}

/** Milliseconds since the epoch as a timestamp; fractions of a millisecond are kept down to the microsecond. */
export function timestampOfMs(ms: number): Timestamp {
  const whole = Math.floor(ms)
  const micros = Math.floor((ms - whole) * 1_000)
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z` as Timestamp
}

export function epochMs(timestamp: Timestamp): number {
  return Date.parse(timestamp)
}

/** The earlier of two times; null: there is none. */
export function earlier(one: Timestamp | null, other: Timestamp | null): Timestamp | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

/**
 * Whether `at` lies within `ms` of `now`, on either side of it: a time further ahead was written before the clock was set back, and says
 * nothing of how long ago that was.
 */
export function isWithin(at: Timestamp, now: Timestamp, ms: number): boolean {
  return Math.abs(epochMs(now) - epochMs(at)) <= ms
}

/**
 * Whether something made for a time is still good at `now`. One that was made by a clock that has been set back since lives longer by as much,
 * but never longer than twice its time.
 */
export function isAlive(
  { createdAt, expiresAt }: { readonly createdAt: Timestamp; readonly expiresAt: Timestamp },
  now: Timestamp
): boolean {
  const leftMs = epochMs(expiresAt) - epochMs(now)
  return leftMs > 0 && leftMs <= 2 * (epochMs(expiresAt) - epochMs(createdAt))
}

/** @throws Malformed naming `what` unless `text` is a day that exists. There is no year 0, and SQL refuses it. */
export function parseDay(text: unknown, what: string): Day {
  if (typeof text === 'string' && /^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) {
    try {
      return Temporal.PlainDate.from(text, { overflow: 'reject' }).toString() as Day
    } catch {
      // Falls through to the one complaint.
    }
  }
  throw new Malformed(what, 'a date, YYYY-MM-DD', text)
}

const dayFormat = new Intl.DateTimeFormat('en-CA', { timeZone: MARKET_ZONE, year: 'numeric', month: '2-digit', day: '2-digit' })
let lastHour = Number.NaN
let lastDay = ''

/** The trading day an instant belongs to: its America/New_York date. */
export function tradingDay(at: Timestamp): Day {
  // New York midnight falls on a whole UTC hour, so one formatted answer holds for its hour.
  const hour = Math.floor(epochMs(at) / 3_600_000)
  if (hour !== lastHour) {
    lastDay = dayFormat.format(hour * 3_600_000)
    lastHour = hour
  }
  return lastDay as Day
}
