/** Chooses what a replay plays: the dates, the symbols, and the finest files of each. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { Micros } from '../../engine/types.ts'
import type { Catalog, DataKind, RecordedFile } from '../lean/catalog.ts'
import type { Resolution } from '../lean/rows.ts'
import type { ReplaySetting } from '../setting.ts'

/** One symbol's files, ascending by date, each the finest of its date. */
export interface Part {
  readonly symbol: string
  readonly asset: 'equity' | 'crypto'
  readonly venue: string
  readonly quotes: readonly RecordedFile[]
  readonly trades: readonly RecordedFile[]
}

export interface Programme {
  readonly parts: readonly Part[]
  /** From the first date's midnight to the midnight after the last, in the zones of the data. */
  readonly window: { readonly from: Micros; readonly to: Micros }
  /** Where it begins: `at` of the first date, or where its window does. */
  readonly start: Micros
}

/** Symbols one replay may play; each has a file or two open at a time. */
const SYMBOLS_MAX = 200
const DAY: Micros = 86_400_000_000
const INTRADAY: readonly Resolution[] = ['tick', 'second', 'minute']

/** @throws Malformed when nothing, or too much, is recorded of what was asked for */
export function programme(catalog: Catalog, setting: ReplaySetting): Programme {
  const resolutions = setting.resolution === null ? INTRADAY : [setting.resolution]
  const usable = catalog.files.filter(file => resolutions.includes(file.resolution) && (setting.symbols?.includes(file.symbol) ?? true))
  const { first, last } = setting.dates ?? defaultDates(usable, resolutions)
  const dates = datesBetween(first, last)
  const names = [...new Set(usable.map(file => file.symbol))]
  const parts = names.flatMap(symbol => part(catalog, symbol, { dates, resolutions, window: { first, last } }))
  if (parts.length === 0)
    throw new Malformed('the replay', 'of dates and symbols that are recorded in the folder', { first, last, symbols: setting.symbols })
  if (parts.length > SYMBOLS_MAX)
    throw new Malformed('the replay', `of at most ${SYMBOLS_MAX} symbols; name them with symbols=`, parts.length)
  const rows = parts.flatMap(({ quotes, trades }) => [...quotes, ...trades]).map(file => file.rows)
  const from = Math.min(...rows.map(({ midnight }) => midnight(first)))
  const to = Math.max(...rows.map(({ midnight }) => midnight(last))) + DAY
  return { parts, window: { from, to }, start: from + timeOfDay(setting.at) }
}

/** The earliest date of the finest recording. */
function defaultDates(
  files: readonly RecordedFile[],
  resolutions: readonly Resolution[]
): { readonly first: string; readonly last: string } {
  for (const resolution of resolutions) {
    const dates = files.flatMap(file => (file.resolution === resolution && file.date !== null ? [file.date] : [])).toSorted()
    const [date] = dates
    if (date !== undefined) return { first: date, last: date }
  }
  throw new Malformed('the replay', 'given a date: nothing here is recorded by the day', null)
}

interface Wanted {
  readonly dates: readonly string[]
  readonly resolutions: readonly Resolution[]
  readonly window: { readonly first: string; readonly last: string }
}

function part(catalog: Catalog, symbol: string, wanted: Wanted): readonly Part[] {
  const quotes = finest(catalog, symbol, 'quote', wanted)
  const trades = finest(catalog, symbol, 'trade', wanted)
  const [file] = [...trades, ...quotes]
  return file === undefined ? [] : [{ symbol, asset: file.asset, venue: file.venue, quotes, trades }]
}

function finest(catalog: Catalog, symbol: string, data: DataKind, { dates, resolutions }: Wanted): readonly RecordedFile[] {
  const files = dates.flatMap(date => {
    const found = resolutions.flatMap(resolution => catalog.find({ symbol, resolution, data, date }) ?? [])
    return found.slice(0, 1)
  })
  return [...new Set(files)]
}

const DATES_MAX = 20_000

function datesBetween(first: string, last: string): readonly string[] {
  const dates: string[] = []
  for (let date = Temporal.PlainDate.from(first); date.toString() <= last; date = date.add({ days: 1 })) {
    dates.push(date.toString())
    if (dates.length > DATES_MAX) throw new Malformed('the replay', `of at most ${DATES_MAX} days`, `${first}..${last}`)
  }
  return dates
}

function timeOfDay(at: string | null): Micros {
  const [hours = '0', minutes = '0'] = (at ?? '').split(':')
  return (Number(hours) * 60 + Number(minutes)) * 60_000_000
}
