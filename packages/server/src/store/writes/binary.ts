// Encodes lists as PostgreSQL's binary arrays. A batch is sent as lists of plain values; as text they would cost the database more to read
// than to store.
import type { Day, Timestamp } from '@trunkline/core/domain/timestamp'

/** A value that its type cannot hold. */
export class Unencodable extends Error {
  override readonly name = 'Unencodable'
}

/** The types' OIDs in every PostgreSQL. */
const OID = { bool: 16, int4: 23, text: 25, date: 1082, timestamptz: 1184, uuid: 2950 } as const

const HEADER_BYTES = 20
const EMPTY_HEADER_BYTES = 12
/** Memory that is retained between batches; what a larger batch needs beyond it is released. */
const RETAINED_BYTES_MAX = 1024 * 1024
const GROWTH_BYTES = 64 * 1024

/**
 * Writes the lists of each batch into the same memory: new memory for each list would cost more garbage collection than all the rest of
 * writing. A list is valid until the next `begin`, so the batch before must have been answered by then.
 */
export class BinaryLists {
  #memory = Buffer.alloc(0)
  #view = new DataView(this.#memory.buffer)
  #used = 0

  /** Begins a new batch: earlier lists are no longer valid. */
  begin(): this {
    this.#used = 0
    if (this.#memory.length > RETAINED_BYTES_MAX) this.#grow(GROWTH_BYTES)
    return this
  }

  ints(values: readonly (number | null)[]): Buffer {
    return this.#fixed(OID.int4, 4, values, writeInt)
  }

  booleans(values: readonly boolean[]): Buffer {
    return this.#fixed(OID.bool, 1, values, writeBoolean)
  }

  uuids(values: readonly (string | null)[]): Buffer {
    return this.#fixed(OID.uuid, 16, values, writeUuid)
  }

  days(values: readonly Day[]): Buffer {
    return this.#fixed(OID.date, 4, values, writeDay)
  }

  timestamps(values: readonly (Timestamp | null)[]): Buffer {
    return this.#fixed(OID.timestamptz, 8, values, writeTimestamp)
  }

  uuid(value: string): Buffer {
    return this.#single(16, value, writeUuid)
  }

  timestamp(value: Timestamp | null): Buffer | null {
    return value === null ? null : this.#single(8, value, writeTimestamp)
  }

  #single<T>(width: number, value: T, write: (view: DataView, at: number, value: T) => void): Buffer {
    if (this.#memory.length - this.#used < width) this.#grow(width)
    write(this.#view, this.#used, value)
    return this.#close(this.#used + width)
  }

  /** Texts must be storable: without NUL. */
  texts(values: readonly (string | null)[]): Buffer {
    let bytes = 0
    for (const value of values) if (value !== null) bytes += Buffer.byteLength(value)
    let at = this.#open(OID.text, values, bytes)
    for (const value of values) {
      const length = value === null ? -1 : this.#memory.write(value, at + 4)
      this.#view.setInt32(at, length)
      at += 4 + Math.max(0, length)
    }
    return this.#close(at)
  }

  #fixed<T>(oid: number, width: number, values: readonly (T | null)[], write: (view: DataView, at: number, value: T) => void): Buffer {
    let at = this.#open(oid, values, values.length * width)
    for (const value of values) {
      this.#view.setInt32(at, value === null ? -1 : width)
      at += 4
      if (value === null) continue
      write(this.#view, at, value)
      at += width
    }
    return this.#close(at)
  }

  /**
   * Allocates the list and writes its header: dimensions, whether there are nulls, the elements' type, their number, and the lower bound 1.
   */
  #open(oid: number, values: readonly unknown[], bytes: number): number {
    const needed = HEADER_BYTES + 4 * values.length + bytes
    if (this.#memory.length - this.#used < needed) this.#grow(needed)
    const [view, at] = [this.#view, this.#used]
    const isEmpty = values.length === 0
    view.setInt32(at, isEmpty ? 0 : 1)
    view.setInt32(at + 4, values.includes(null) ? 1 : 0)
    view.setInt32(at + 8, oid)
    if (isEmpty) return at + EMPTY_HEADER_BYTES
    view.setInt32(at + 12, values.length)
    view.setInt32(at + 16, 1)
    return at + HEADER_BYTES
  }

  #close(end: number): Buffer {
    const list = this.#memory.subarray(this.#used, end)
    this.#used = end
    return list
  }

  /** Lists of this batch that were written already keep their memory. */
  #grow(bytes: number): void {
    this.#memory = Buffer.allocUnsafeSlow(Math.max(GROWTH_BYTES, 2 * bytes))
    this.#view = new DataView(this.#memory.buffer)
    this.#used = 0
  }
}

function writeInt(view: DataView, at: number, value: number): void {
  if ((value | 0) !== value) throw new Unencodable(`an integer must fit 32 bits, was ${value}`)
  view.setInt32(at, value)
}

function writeBoolean(view: DataView, at: number, value: boolean): void {
  view.setInt8(at, value ? 1 : 0)
}

function writeDay(view: DataView, at: number, value: Day): void {
  view.setInt32(at, dayNumber(value))
}

/** The position of each byte's two digits in a UUID's text. */
const DIGITS = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const

function writeUuid(view: DataView, at: number, uuid: string): void {
  let beyond = uuid.length === 36 ? 0 : 16
  for (let byte = 0; byte < 16; byte += 1) {
    const from = DIGITS[byte] ?? 0
    const high = nibble(uuid.charCodeAt(from))
    const low = nibble(uuid.charCodeAt(from + 1))
    beyond |= high | low
    view.setUint8(at + byte, (high << 4) | low)
  }
  if ((beyond & ~15) !== 0) throw new Unencodable(`an id must be a UUID, was ${JSON.stringify(uuid)}`)
}

/** The value of a hexadecimal digit in lower or upper case; outside 0 to 15 for anything else. */
function nibble(code: number): number {
  if (code < 58) return code - 48
  const letter = (code | 32) - 87
  return letter < 10 ? -1 : letter
}

const EPOCH_MS = Date.UTC(2000, 0, 1)
const DAY_MS = 86_400_000
const DAY_MICROSECONDS = 86_400_000_000

let [lastDay, lastNumber] = ['', 0]

/** Days since 2000. Most of a batch is of one day. */
function dayNumber(day: string): number {
  if (day === lastDay) return lastNumber
  const number = (Date.parse(day) - EPOCH_MS) / DAY_MS
  if (!Number.isInteger(number)) throw new Unencodable(`a day must be YYYY-MM-DD, was ${JSON.stringify(day)}`)
  lastDay = day
  lastNumber = number
  return number
}

const TWO_TO_32 = 2 ** 32
/** `-infinity`: PostgreSQL has no year 0, and nothing of ours is older. */
const BEFORE_ALL_TIME = -(2n ** 63n)

/** Microseconds since 2000. */
function writeTimestamp(view: DataView, at: number, instant: Timestamp): void {
  if (instant < '0001') {
    view.setBigInt64(at, BEFORE_ALL_TIME)
    return
  }
  const day = dayNumber(instant.slice(0, 10))
  const seconds = (digits(instant, 11) * 60 + digits(instant, 14)) * 60 + digits(instant, 17)
  const within = seconds * 1_000_000 + digits(instant, 20) * 10_000 + digits(instant, 22) * 100 + digits(instant, 24)
  if (!(within >= 0) || instant.length !== 27) {
    throw new Unencodable(`an instant must have microseconds and a Z, was ${JSON.stringify(instant)}`)
  }
  const microseconds = day * DAY_MICROSECONDS + within
  if (Number.isSafeInteger(microseconds)) {
    const high = Math.floor(microseconds / TWO_TO_32)
    view.setInt32(at, high)
    view.setUint32(at + 4, microseconds - high * TWO_TO_32)
  } else {
    view.setBigInt64(at, BigInt(day) * BigInt(DAY_MICROSECONDS) + BigInt(within))
  }
}

/** Two digits of a text as a number; NaN for anything else. */
function digits(text: string, at: number): number {
  const [tens, ones] = [text.charCodeAt(at) - 48, text.charCodeAt(at + 1) - 48]
  return tens >= 0 && tens < 10 && ones >= 0 && ones < 10 ? 10 * tens + ones : Number.NaN
}
