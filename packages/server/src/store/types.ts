// Reads column values: texts stay texts, so that no decimal, instant or day passes through a lossy type.
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import pg, { type CustomTypesConfig } from 'pg'

const INT8 = 20
const DATE = 1082
const TIMESTAMPTZ = 1184
/** Sorts before every instant; stands for "never" in a sort column. */
export const BEFORE_ALL_TIME = '-infinity'

/** Type parsers of both engines. `timestamptz` becomes a `Timestamp`, `date` a `Day`, `int8` a safe integer, `numeric` stays its text. */
export const TYPES: CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === TIMESTAMPTZ) return readTimestamp
    if (oid === DATE) return String
    if (oid === INT8) return readInteger
    return pg.types.getTypeParser(oid, format)
  }
}

/** `2026-11-21 14:30:00.12+00`, as a session in UTC with ISO dates writes it, to the domain's `2026-11-21T14:30:00.120000Z`. */
export function readTimestamp(text: string): Timestamp | typeof BEFORE_ALL_TIME {
  if (text === BEFORE_ALL_TIME) return BEFORE_ALL_TIME
  const end = text.length - 3
  if (text.charCodeAt(10) !== 32 || text.slice(end) !== '+00') throw new Error(`a session must be in UTC with ISO dates, wrote ${text}`)
  const seconds = end === 19 ? `${text.slice(11, 19)}.000000` : text.slice(11, end).padEnd(15, '0')
  return `${text.slice(0, 10)}T${seconds}Z` as Timestamp
}

/** An instant as a bound of a search: PostgreSQL has no year 0, and nothing of ours is older. */
export function searchable(at: Timestamp): string {
  return at < '0001' ? BEFORE_ALL_TIME : at
}

/** Text as a column can store it: PostgreSQL has no NUL and no lone surrogate. Documents have the exact texts. */
export function storable(text: string): string {
  return text.includes('\0') || !text.isWellFormed() ? text.replaceAll('\0', '\u2400').toWellFormed() : text
}

function readInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`a stored integer is beyond what is exact: ${text}`)
  return value
}
