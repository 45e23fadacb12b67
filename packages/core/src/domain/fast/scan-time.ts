/** Scans the most common form of a time, `2026-11-21T14:30:00.123456789Z`, character by character: fifty times cheaper than `Temporal`. */

import type { Nanos } from '../market/records.ts'
import type { Timestamp } from '../timestamp.ts'

const ZERO = 48
const NINE = 57
const MINUS = 45
const COLON = 58
const POINT = 46
const T = 84
const Z = 90
const SECONDS_END = 19
const NANOS_END = 29
const MICROS = 6
const FIRST_YEAR = 1_000
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** The same result as the core's parser; null for any other form, and for a time that does not exist. */
export function utcTime(text: string): Timestamp | null {
  const places = placesOf(text)
  if (places === null) return null
  if (places === 0) return known(`${text.slice(0, SECONDS_END)}.000000Z`)
  if (places === MICROS) return known(text)
  if (places > MICROS) return known(`${text.slice(0, SECONDS_END + 1 + MICROS)}Z`)
  return known(`${text.slice(0, -1)}${'000000'.slice(places)}Z`)
}

/** Cache of the last minute in nanoseconds: most times of a stream are in the same minute. */
const last = { prefix: '\0', seconds: 0 }
const MINUTE_END = 17

/** The instant in nanoseconds since 1970; null for any other form, for a time that does not exist, and before 1970. */
export function utcNanos(text: string): Nanos | null {
  if (!text.startsWith(last.prefix)) {
    if (placesOf(text) === null) return null
    const days = daysSince1970(100 * two(text, 0) + two(text, 2), two(text, 5), two(text, 8))
    last.seconds = ((days * 24 + two(text, 11)) * 60 + two(text, 14)) * 60
    last.prefix = text.slice(0, MINUTE_END)
  }
  const second = two(text, MINUTE_END)
  const places = second < 60 ? fractionOf(text) : null
  if (places === null) return null
  const seconds = last.seconds + second
  if (seconds < 0) return null
  const fraction = places === 0 ? '000000000' : `${text.slice(SECONDS_END + 1, -1)}${'000000000'.slice(places)}`
  return seconds === 0 ? nanos(String(Number(fraction))) : nanos(`${seconds}${fraction}`)
}

/** Number of fractional digits of an existing time in this form; null otherwise. */
function placesOf(text: string): number | null {
  if (text.charCodeAt(4) !== MINUS || text.charCodeAt(7) !== MINUS || text.charCodeAt(10) !== T) return null
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return null
  if (!isDay(100 * two(text, 0) + two(text, 2), two(text, 5), two(text, 8))) return null
  return two(text, 11) < 24 && two(text, 14) < 60 && two(text, MINUTE_END) < 60 ? fractionOf(text) : null
}

/** Number of fractional digits after the second: none, or a point and up to nine digits, and then `Z`. */
function fractionOf(text: string): number | null {
  const { length } = text
  if (length <= SECONDS_END || length > NANOS_END + 1 || text.charCodeAt(length - 1) !== Z) return null
  const places = length - SECONDS_END - 2
  if (places < 0) return 0
  if (places === 0 || text.charCodeAt(SECONDS_END) !== POINT) return null
  for (let index = SECONDS_END + 1; index < length - 1; index += 1) if (!isDigit(text.charCodeAt(index))) return null
  return places
}

/** Days in the proleptic Gregorian calendar, with years that begin in March, so that a leap day is the last of its year. */
function daysSince1970(year: number, month: number, day: number): number {
  const from = month > 2 ? year : year - 1
  const era = Math.floor(from / 400)
  const inEra = from - era * 400
  const inYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  return era * 146_097 + inEra * 365 + Math.floor(inEra / 4) - Math.floor(inEra / 100) + inYear - 719_468
}

function isDay(year: number, month: number, day: number): boolean {
  if (!(year >= FIRST_YEAR && month >= 1 && month <= 12 && day >= 1)) return false
  const isLeap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day <= (DAYS[month - 1] ?? 0) + (isLeap ? 1 : 0)
}

/** NaN, and so in no range, when one of them is not a digit. */
function two(text: string, at: number): number {
  return 10 * digit(text, at) + digit(text, at + 1)
}

function digit(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return isDigit(code) ? code - ZERO : Number.NaN
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

function known(text: string): Timestamp {
  return text as Timestamp
}

function nanos(text: string): Nanos {
  return text as Nanos
}
