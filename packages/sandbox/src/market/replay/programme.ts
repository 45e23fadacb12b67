/** Selects the contents of a replay: the dates, the symbols, and the finest files of each. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { Micros } from '../../engine/types.ts'
import { parseFutureSymbol } from '../futures/months.ts'
import type { Catalog, ContractArchive, DataKind, RecordedFile } from '../lean/catalog.ts'
import type { Resolution } from '../lean/rows.ts'
import { parseOptionSymbol } from '../options/occ.ts'
import type { ReplaySetting } from '../setting.ts'

/** One symbol's files, ascending by date, the finest of each date. */
export interface Part {
  readonly symbol: string
  readonly asset: 'equity' | 'crypto'
  readonly venue: string
  readonly quotes: readonly RecordedFile[]
  readonly trades: readonly RecordedFile[]
}

export interface Programme {
  readonly parts: readonly Part[]
  /** The contracts of these dates, each date in its finest resolution, followed by all other recordings of the same roots. */
  readonly archives: { readonly played: readonly ContractArchive[]; readonly known: readonly ContractArchive[] }
  readonly dates: { readonly first: string; readonly last: string }
  /** From the first date's midnight to the midnight after the last, in the zones of the data. */
  readonly window: { readonly from: Micros; readonly to: Micros }
  /**
   * The start: `at` of the first date, in New York time, or in UTC if no instrument of New York is played; otherwise the start of the
   * window.
   */
  readonly start: Micros
}

/** Symbols that a replay may have; each has a file or two open at a time. */
const SYMBOLS_MAX = 200
const DAY: Micros = 86_400_000_000
const INTRADAY: readonly Resolution[] = ['tick', 'second', 'minute']

/** @throws Malformed if nothing, or too much, is recorded for the request */
export function programme(catalog: Catalog, setting: ReplaySetting): Programme {
  const resolutions = setting.resolution === null ? INTRADAY : [setting.resolution]
  const usable = catalog.files.filter(file => resolutions.includes(file.resolution) && isWanted(setting, file.symbol))
  const wanted = catalog.archives.filter(archive => isWantedRoot(setting, archive))
  const played = wanted.filter(({ resolution }) => resolutions.includes(resolution))
  const { first, last } = setting.dates ?? defaultDates([...usable, ...played], resolutions)
  const dates = datesBetween(first, last)
  const names = [...new Set(usable.map(file => file.symbol))]
  const parts = names.flatMap(symbol => part(catalog, symbol, { dates, resolutions, window: { first, last } }))
  const archives = finestArchives(played.filter(({ date }) => date !== null && date >= first && date <= last))
  if (parts.length === 0 && archives.length === 0)
    throw new Malformed('the replay', 'of dates and symbols that are recorded in the folder', { first, last, symbols: setting.symbols })
  if (parts.length > SYMBOLS_MAX)
    throw new Malformed('the replay', `of at most ${SYMBOLS_MAX} symbols; name them with symbols=`, parts.length)
  const rows = [...parts.flatMap(({ quotes, trades }) => [...quotes, ...trades]), ...archives].map(file => file.rows)
  const midnights = rows.map(({ midnight }) => midnight(first))
  const from = Math.min(...midnights)
  const to = Math.max(...rows.map(({ midnight }) => midnight(last))) + DAY
  const known = wanted.filter(({ date, root }) => (date === null || date <= last) && archives.some(other => other.root === root))
  return {
    parts,
    archives: { played: archives, known },
    dates: { first, last },
    window: { from, to },
    // Days of futures and crypto are recorded in UTC, but beside shares and options `at` is New York time, whose day begins later.
    start: setting.at === null ? from : Math.max(...midnights) + timeOfDay(setting.at)
  }
}

/** Whether the setting names the symbol (a pair with or without its slash), or has no symbols. */
export function isWanted({ symbols }: ReplaySetting, symbol: string): boolean {
  return symbols === null || symbols.some(named => named === symbol || named === symbol.replace('/', ''))
}

/** Contracts are selected by their own symbol, or all of them by their underlying's or root's. */
function isWantedRoot(setting: ReplaySetting, { root }: ContractArchive): boolean {
  const roots = setting.symbols?.map(symbol => parseOptionSymbol(symbol)?.underlying ?? parseFutureSymbol(symbol)?.root ?? symbol)
  return roots?.includes(root) ?? true
}

/** The first archive of each root, kind and date, from archives ordered by resolution. */
function finestArchives(archives: readonly ContractArchive[]): readonly ContractArchive[] {
  const first = new Map<string, ContractArchive>()
  for (const archive of archives) {
    const name = [archive.asset, archive.root, archive.data, archive.date].join(' ')
    if (!first.has(name)) first.set(name, archive)
  }
  return [...first.values()]
}

/** The earliest date of the finest recording. */
function defaultDates(
  files: readonly Pick<RecordedFile, 'resolution' | 'date'>[],
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
