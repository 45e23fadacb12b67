/** Reads the rows of recorded files, strictly: a wrong column count, number, order or bar is an error with the file and the line. */
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { Micros } from '../../engine/types.ts'
import { type BadDataReason, BadMarketData } from './bad-data.ts'
import { type Price, type PriceReader, plain, priceReader } from './numbers.ts'
import { type ZipLimits, type ZipText, zippedLines } from './zip.ts'

export const RESOLUTIONS = ['tick', 'second', 'minute', 'hour', 'daily'] as const
export type Resolution = (typeof RESOLUTIONS)[number]

export interface Ohlc {
  readonly open: Price
  readonly high: Price
  readonly low: Price
  readonly close: Price
}

export interface TradeTick {
  readonly at: Micros
  readonly price: Price
  readonly size: Decimal
  /** The recording's letter; empty if there is none. */
  readonly venue: string
  /** See `sale-conditions.ts`; 0 if none is recorded. */
  readonly condition: number
}

export interface TradeBar extends Ohlc {
  readonly at: Micros
  readonly volume: Decimal
}

/** One side of a quote bar. The size is the last one; sizes within the bar are not recorded. */
export interface QuoteSide extends Ohlc {
  readonly lastSize: Decimal
}

/** A side is null without quotes. */
export interface QuoteBar {
  readonly at: Micros
  readonly bid: QuoteSide | null
  readonly ask: QuoteSide | null
}

/** Shares and their options are recorded in ten-thousandths, the others in plain decimals. */
export type Asset = 'equity' | 'crypto' | 'option' | 'future'

/** The contents of a file, and the meaning of its times. */
export interface RowFile {
  readonly file: string
  /** The text inside, if an archive has one per contract; by default the archive has exactly one. */
  readonly entry?: ZipText
  readonly asset: Asset
  readonly resolution: Resolution
  /** Midnight, in the zone of the data, of a `YYYY-MM-DD` date. */
  readonly midnight: (date: string) => Micros
  /** The date of an intraday file, `YYYY-MM-DD`; null for hour and daily files, whose rows have it. */
  readonly date: string | null
  readonly limits?: ZipLimits
}

/** @throws BadMarketData. Skips trades marked as suspicious, as the recorded bars do. */
export function tradeTicks(from: RowFile): AsyncGenerator<readonly TradeTick[]> {
  return rows(from, 6, row =>
    row.fields[5] === '1' ? null : { at: row.at, price: row.price(1), size: row.size(2), venue: row.venue(3), condition: row.bits(4) }
  )
}

/** @throws BadMarketData */
export function tradeBars(from: RowFile): AsyncGenerator<readonly TradeBar[]> {
  return rows(from, 6, row => ({ at: row.at, ...row.ohlc(1), volume: row.size(5) }))
}

/** @throws BadMarketData */
export function quoteBars(from: RowFile): AsyncGenerator<readonly QuoteBar[]> {
  return rows(from, 11, row => ({ at: row.at, bid: row.side(1), ask: row.side(6) }))
}

export interface OpenInterest {
  readonly at: Micros
  readonly contracts: Decimal
}

/** @throws BadMarketData */
export function openInterest(from: RowFile): AsyncGenerator<readonly OpenInterest[]> {
  return rows(from, 2, row => ({ at: row.at, contracts: row.size(1) }))
}

async function* rows<Row>(from: RowFile, columns: number, make: (row: Fields) => Row | null): AsyncGenerator<readonly Row[]> {
  const fields = new Fields(from, columns)
  for await (const { first, lines } of zippedLines(from.file, from.limits, from.entry)) {
    const batch: Row[] = []
    for (const [index, line] of lines.entries()) {
      fields.take(line, first + index)
      const row = make(fields)
      if (row !== null) batch.push(row)
    }
    if (batch.length > 0) yield batch
  }
}

const VENUE = /^[A-Za-z0-9 ]{0,16}$/
const HEXADECIMAL = /^[0-9A-Fa-f]{0,8}$/

/** The current row; one object for the whole file, because a day has a quarter of a million rows. */
class Fields {
  fields: readonly string[] = []
  at: Micros = Number.NEGATIVE_INFINITY
  readonly #from: RowFile
  readonly #columns: number
  readonly #price: PriceReader
  readonly #readTime: (field: string) => Micros
  #line = 0

  constructor(from: RowFile, columns: number) {
    this.#from = from
    this.#columns = columns
    this.#price = priceReader(from.asset === 'equity' || from.asset === 'option' ? 'ten-thousandths' : 'plain')
    this.#readTime = timeReader(from)
  }

  take(line: string, number: number): void {
    this.#line = number
    this.fields = (line.endsWith('\r') ? line.slice(0, -1) : line).split(',')
    if (this.fields.length !== this.#columns) this.#fail('columns', `expected ${this.#columns} columns, found ${this.fields.length}`)
    const text = this.fields[0] ?? ''
    const at = this.#readTime(text)
    if (Number.isNaN(at)) this.#fail('number', `${JSON.stringify(text)} is not a time of a ${this.#from.resolution} file`)
    // Ticks may share a millisecond; bars may not share a start.
    if (at < this.at || (at === this.at && this.#from.resolution !== 'tick'))
      this.#fail('unsorted', `the time ${text} does not follow the one before`)
    this.at = at
  }

  price(column: number): Price {
    const field = this.fields[column] ?? ''
    return this.#price(field) ?? this.#fail('number', `column ${column + 1}, ${JSON.stringify(field)}, is not a price`)
  }

  size(column: number): Decimal {
    const field = this.fields[column] ?? ''
    return plain(field) ?? this.#fail('number', `column ${column + 1}, ${JSON.stringify(field)}, is not a size`)
  }

  venue(column: number): string {
    const field = this.fields[column] ?? ''
    return VENUE.test(field) ? field : this.#fail('number', `column ${column + 1}, ${JSON.stringify(field)}, is not an exchange`)
  }

  bits(column: number): number {
    const field = this.fields[column] ?? ''
    return HEXADECIMAL.test(field)
      ? Number.parseInt(field === '' ? '0' : field, 16)
      : this.#fail('number', `column ${column + 1}, ${JSON.stringify(field)}, is not a hexadecimal number`)
  }

  ohlc(column: number): Ohlc {
    const bar = { open: this.price(column), high: this.price(column + 1), low: this.price(column + 2), close: this.price(column + 3) }
    const { open, high, low, close } = bar
    if (low.value > open.value || low.value > close.value || high.value < open.value || high.value < close.value)
      this.#fail('inconsistent', `open ${open.text} and close ${close.text} are not between low ${low.text} and high ${high.text}`)
    return bar
  }

  side(column: number): QuoteSide | null {
    const absent = this.fields.slice(column, column + 4).every(field => field === '')
    return absent ? null : { ...this.ohlc(column), lastSize: this.size(column + 4) }
  }

  #fail(reason: BadDataReason, detail: string): never {
    throw new BadMarketData(reason, { file: this.#from.file, line: this.#line }, detail)
  }
}

const MS_OF_DAY_MAX = 86_400_000

// Every clock change of the recorded zones is on a Sunday, when shares do not trade; crypto is recorded in UTC. So milliseconds after
// midnight on a wall clock equal elapsed milliseconds.
function timeReader({ date, midnight }: RowFile): (field: string) => Micros {
  if (date === null) return dated(midnight)
  const start = midnight(date)
  return field => {
    const [, ms = '', fraction = ''] = /^(\d{1,8})(?:\.(\d{1,3})\d{0,4})?$/.exec(field) ?? []
    const at = ms === '' ? Number.NaN : Number(ms)
    return at > MS_OF_DAY_MAX ? Number.NaN : start + at * 1_000 + Number(fraction.padEnd(3, '0'))
  }
}

function dated(midnight: (date: string) => Micros): (field: string) => Micros {
  let lastDay = ''
  let start = 0
  return field => {
    const [, year, month, day, hour, minute] = /^(\d{4})(\d{2})(\d{2}) (\d{2}):(\d{2})$/.exec(field) ?? []
    if (year === undefined || Number(hour) > 23 || Number(minute) > 59) return Number.NaN
    const date = `${year}-${month}-${day}`
    if (date !== lastDay) {
      try {
        start = midnight(date)
      } catch {
        return Number.NaN // no such day
      }
      lastDay = date
    }
    return start + (Number(hour) * 60 + Number(minute)) * 60_000_000
  }
}
