import type { Brand } from './brand.ts'
import { Malformed } from './malformed.ts'

/** An instant in UTC with microseconds: `2026-11-21T14:30:00.123456Z`. All texts have the same length, so they sort by time. */
export type Timestamp = Brand<string, 'Timestamp'>

/** A calendar day, `YYYY-MM-DD`, in the time zone given by its context. */
export type Day = Brand<string, 'Day'>

const OFFSET_DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)$/
const MARKET_ZONE = 'America/New_York'

/** Parses an ISO 8601 date-time with an offset. @throws Malformed naming `what`. */
export function parseTimestamp(text: unknown, what: string): Timestamp {
  if (typeof text === 'string' && text.length <= 40 && OFFSET_DATE_TIME.test(text)) {
    try {
      return timestampOf(Temporal.Instant.from(text.toUpperCase()))
    } catch {
      // A date that does not exist (February 30) is malformed, too.
    }
  }
  throw new Malformed(what, 'an ISO 8601 date-time with an offset, such as 2026-11-21T14:30:00Z', text)
}

/** Keeps microseconds. Nanoseconds are cut off, never rounded up into the future. */
export function timestampOf(instant: Temporal.Instant): Timestamp {
  return instant.toString({ fractionalSecondDigits: 6, roundingMode: 'floor' }) as Timestamp
}

/** `000` to `999`. */
const THREE_DIGITS = Array.from({ length: 1_000 }, (_, value) => String(value).padStart(3, '0'))
let lastSecond = Number.NaN
let lastSecondText = ''

/** Converts milliseconds since the epoch, keeping fractions down to the microsecond. */
export function timestampOfMs(ms: number): Timestamp {
  const whole = Math.floor(ms)
  const second = Math.floor(whole / 1_000)
  // Most are of the present second, whose text is made once.
  if (second !== lastSecond) {
    lastSecondText = new Date(second * 1_000).toISOString().slice(0, -4)
    lastSecond = second
  }
  const micros = Math.floor((ms - whole) * 1_000)
  return `${lastSecondText}${THREE_DIGITS[whole - second * 1_000]}${THREE_DIGITS[micros]}Z` as Timestamp
}

export function epochMs(timestamp: Timestamp): number {
  return Date.parse(timestamp)
}

/** The earlier of two times; null means none. */
export function earlier(one: Timestamp | null, other: Timestamp | null): Timestamp | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

/**
 * Whether `at` is within `ms` of `now`, in either direction. A time further ahead was written before the clock was set back, and its age is
 * unknown.
 */
export function isWithin(at: Timestamp, now: Timestamp, ms: number): boolean {
  return Math.abs(epochMs(now) - epochMs(at)) <= ms
}

/**
 * Whether something with a limited lifetime is still valid at `now`. If the clock has been set back since it was made, it lives longer by
 * that much, but never longer than twice its lifetime.
 */
export function isAlive(
  { createdAt, expiresAt }: { readonly createdAt: Timestamp; readonly expiresAt: Timestamp },
  now: Timestamp
): boolean {
  const leftMs = epochMs(expiresAt) - epochMs(now)
  return leftMs > 0 && leftMs <= 2 * (epochMs(expiresAt) - epochMs(createdAt))
}

/** @throws Malformed naming `what` unless `text` is an existing day. Year 0 does not exist, and SQL refuses it. */
export function parseDay(text: unknown, what: string): Day {
  if (typeof text === 'string' && /^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) {
    try {
      return Temporal.PlainDate.from(text, { overflow: 'reject' }).toString() as Day
    } catch {
      // Falls through to the error below.
    }
  }
  throw new Malformed(what, 'a date, YYYY-MM-DD', text)
}

const dayFormat = new Intl.DateTimeFormat('en-CA', { timeZone: MARKET_ZONE, year: 'numeric', month: '2-digit', day: '2-digit' })
const HOUR_LENGTH = '2026-11-21T14'.length
let lastHour = ''
let lastDay = ''

/** The trading day of an instant: its date in America/New_York. */
export function tradingDay(at: Timestamp): Day {
  // Midnight in New York falls on a full hour of UTC, so the day is formatted once per hour.
  const hour = at.slice(0, HOUR_LENGTH)
  if (hour !== lastHour) {
    lastDay = dayFormat.format(epochMs(at))
    lastHour = hour
  }
  return lastDay as Day
}
