/** Dates of a time zone and the instants at which they begin. Clock changes are cached, because a history reads thousands of dates. */
import type { Day } from '../timestamp.ts'
import { LAST_YEAR, OutsideCalendar } from './calendar.ts'

const DAY = 86_400_000
/** The weekday of 1970-01-01. */
const THURSDAY = 4
/** The years whose dates ISO 8601 writes with four digits, and that `Date.UTC` does not move to another century. */
const [PLAIN_FROM, PLAIN_UNTIL] = [Date.UTC(1000, 0, 1), Date.UTC(9999, 11, 30)]

/** A period without clock changes in a zone, and its offset from UTC. */
interface Offset {
  readonly from: number
  readonly until: number
  readonly ms: number
}

/** Most periods cached per zone: two a year for a long history. Bounded because clients choose the dates. */
const REMEMBERED_MAX = 256
const remembered = new Map<string, { recent: Offset; readonly all: Offset[] }>()

/**
 * Most date texts cached, by days since the epoch: forty years, each date of which a long history reads a dozen times. Bounded because
 * clients choose the dates.
 */
const TEXTS_MAX = 16_000
const texts = new Map<number, Day>()

/** A plain date as text. */
export function dayText(date: Temporal.PlainDate): Day {
  return date.toString() as Day
}

/** The date of an instant (milliseconds since the epoch) in an IANA zone. */
export function dateAtInstant(instant: number, zone: string): Day {
  if (instant > PLAIN_FROM && instant < PLAIN_UNTIL) return utcDate(instant + offsetAt(instant, zone).ms)
  return dayText(Temporal.Instant.fromEpochMilliseconds(Math.floor(instant)).toZonedDateTimeISO(zone).toPlainDate())
}

/** The instant, in milliseconds since the epoch, at which a date begins in an IANA zone. */
export function midnight(date: Temporal.PlainDate | string, zone: string): number {
  return plainMidnight(utcMidnight(date), zone) ?? Temporal.PlainDate.from(date).toZonedDateTime(zone).epochMilliseconds
}

/** Null near a clock change, where midnight may occur twice or not at all. @param there the date's midnight in UTC, or NaN */
function plainMidnight(there: number, zone: string): number | null {
  if (!(there > PLAIN_FROM && there < PLAIN_UNTIL)) return null
  const { from, until, ms } = offsetAt(there, zone)
  const at = there - ms
  return at - DAY >= from && at + DAY < until ? at : null
}

/** Like {@link dateAtInstant}. @throws OutsideCalendar for an instant outside `firstYear` to {@link LAST_YEAR} */
export function dateWithin(instant: number, zone: string, firstYear: number): Day {
  const year = new Date(instant).getUTCFullYear()
  if (year >= firstYear - 1 && year <= LAST_YEAR + 1) {
    const date = dateAtInstant(instant, zone)
    if (Number(date.slice(0, 4)) >= firstYear && Number(date.slice(0, 4)) <= LAST_YEAR) return date
  }
  throw new OutsideCalendar(Number.isNaN(year) ? instant : new Date(instant).toISOString(), firstYear)
}

/** A date in a zone, with what calendars need of it. */
export interface ZoneDate {
  readonly text: Day
  readonly year: number
  /** From 1, Monday, to 7. */
  readonly weekday: number
  /** The instants at which it begins and ends, in milliseconds since the epoch. */
  readonly start: number
  readonly end: number
}

/**
 * Null unless the text is a date from 1000 to 9999 in the calendars' notation. Several times as fast as Temporal, which matters for a
 * history.
 */
export function zoneDate(date: string, zone: string): ZoneDate | null {
  const there = utcMidnight(date)
  if (Number.isNaN(there)) return null
  const text = utcDate(there)
  return {
    text,
    year: Number(text.slice(0, 4)),
    weekday: ((((there / DAY + THURSDAY - 1) % 7) + 7) % 7) + 1,
    start: plainMidnight(there, zone) ?? midnight(text, zone),
    end: plainMidnight(there + DAY, zone) ?? midnight(utcDate(there + DAY), zone)
  }
}

/** The date so many days later, both in four-digit years. `date` must be valid. */
export function daysAfter(date: string, days: number): Day {
  return utcDate(Date.parse(date) + days * DAY)
}

function utcDate(ms: number): Day {
  const number = Math.floor(ms / DAY)
  const known = texts.get(number)
  if (known !== undefined) return known
  const text = new Date(number * DAY).toISOString().slice(0, 10) as Day
  if (texts.size >= TEXTS_MAX) texts.clear()
  texts.set(number, text)
  return text
}

/** NaN unless `date` is a date in the calendars' notation. */
function utcMidnight(date: Temporal.PlainDate | string): number {
  if (typeof date !== 'string') return Date.UTC(date.year, date.month - 1, date.day)
  const ms = Date.parse(date)
  // Some dates that do not exist parse as later ones.
  return ms > PLAIN_FROM && ms < PLAIN_UNTIL && utcDate(ms) === date ? ms : Number.NaN
}

function offsetAt(instant: number, zone: string): Offset {
  const known = remembered.get(zone)
  if (known !== undefined) {
    if (instant >= known.recent.from && instant < known.recent.until) return known.recent
    const found = known.all.find(({ from, until }) => instant >= from && instant < until)
    if (found !== undefined) {
      known.recent = found
      return found
    }
    if (known.all.length >= REMEMBERED_MAX) known.all.length = 0
  }
  const fresh = offsetOf(instant, zone)
  const all = known?.all ?? []
  all.push(fresh)
  remembered.set(zone, { recent: fresh, all })
  return fresh
}

function offsetOf(instant: number, zone: string): Offset {
  const at = Temporal.Instant.fromEpochMilliseconds(Math.floor(instant)).toZonedDateTimeISO(zone)
  return {
    // A change at the instant itself counts, so the previous change before the next millisecond is taken.
    from: at.add({ milliseconds: 1 }).getTimeZoneTransition('previous')?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
    until: at.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
    ms: at.offsetNanoseconds / 1_000_000
  }
}
