/** What a folder of recorded data holds: which file has which symbol, date, resolution and kind, and in which zone its times are. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { midnight } from '@trunkline/core/domain/calendar/index'
import { parseDay } from '@trunkline/core/domain/timestamp'
import type { Micros } from '../../engine/types.ts'
import { BadMarketData } from './bad-data.ts'
import { RESOLUTIONS, type Resolution, type RowFile } from './rows.ts'

export type DataKind = 'trade' | 'quote'

/** One recorded file of a symbol; `date` (`YYYY-MM-DD`) is null for hour and daily files, which hold the whole history. */
export interface RecordedFile {
  readonly symbol: string
  readonly asset: 'equity' | 'crypto'
  /** The folder of the venue: `usa`, `coinbase`. */
  readonly venue: string
  readonly resolution: Resolution
  readonly data: DataKind
  readonly date: string | null
  readonly rows: RowFile
}

export interface Catalog {
  readonly folder: string
  /** Ordered by symbol, resolution (finest first), kind and date. Of a pair recorded at several venues, the alphabetically first one counts. */
  readonly files: readonly RecordedFile[]
  /** The file of a symbol at a resolution, or null. Of hour and daily files `date` is not asked. */
  find(wanted: Wanted): RecordedFile | null
}

/** What names one file among those of a folder. */
export type Wanted = Pick<RecordedFile, 'symbol' | 'resolution' | 'data' | 'date'>

/** Files a folder may hold; a catalogue entry takes about 300 bytes. */
const FILES_MAX = 200_000
const HOURS_BYTES_MAX = 16_777_216
const HOURS_FILES = ['market-hours.json', join('market-hours', 'market-hours-database.json')]
const ZONES = { equity: 'America/New_York', crypto: 'UTC' } as const

// Longest first: a pair ending in USDT also ends in T, and one day in a coin named so.
const QUOTE_CURRENCIES = ['usdt', 'usdc', 'busd', 'usd', 'eur', 'gbp', 'jpy', 'btc', 'eth']

/**
 * Looks through a folder in the LEAN layout. Options, futures and anything else it does not know are passed over.
 * @throws BadMarketData when the folder is missing, holds nothing usable or more than it may
 */
export async function openCatalog(folder: string): Promise<Catalog> {
  const paths = await listed(folder)
  const zoneOf = await zones(folder)
  const byName = new Map<string, RecordedFile>()
  for (const path of paths.toSorted()) {
    const place = placeOf(path.split(sep))
    if (place === null) continue
    const name = nameOf(place)
    if (byName.has(name)) continue
    const zone = zoneOf(place.asset, place.venue)
    const { asset, resolution, date } = place
    const rows = {
      file: join(folder, path),
      asset,
      resolution,
      date,
      midnight: (day: string): Micros => midnight(parseDay(day, 'date'), zone) * 1_000
    }
    byName.set(name, { ...place, rows })
  }
  if (byName.size === 0)
    throw new BadMarketData(
      'missing',
      { file: folder },
      'no recorded shares or crypto in here; name the folder that holds equity/ or crypto/'
    )
  return { folder, files: [...byName.values()].toSorted(inOrder), find: wanted => byName.get(nameOf(wanted)) ?? null }
}

function nameOf({ symbol, resolution, data, date }: Wanted): string {
  return [symbol, resolution, data, resolution === 'hour' || resolution === 'daily' ? '' : date].join(' ')
}

function inOrder(a: RecordedFile, b: RecordedFile): number {
  return (
    compareTexts(a.symbol, b.symbol) ||
    RESOLUTIONS.indexOf(a.resolution) - RESOLUTIONS.indexOf(b.resolution) ||
    compareTexts(a.data, b.data) ||
    compareTexts(a.date ?? '', b.date ?? '')
  )
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

async function listed(folder: string): Promise<readonly string[]> {
  const paths: string[] = []
  for (const asset of ['equity', 'crypto']) {
    let names: readonly string[]
    try {
      names = await readdir(join(folder, asset), { recursive: true })
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR')) continue
      throw cause
    }
    if (paths.length + names.length > FILES_MAX)
      throw new BadMarketData('missing', { file: folder }, `more than ${FILES_MAX} files; name a folder with fewer`)
    for (const name of names) paths.push(join(asset, name))
  }
  return paths
}

type Place = Omit<RecordedFile, 'rows'>

function placeOf(parts: readonly string[]): Place | null {
  const [asset, venue, folder, ...rest] = parts
  const resolution = RESOLUTIONS.find(name => name === folder)
  if ((asset !== 'equity' && asset !== 'crypto') || venue === undefined || resolution === undefined) return null
  const found = resolution === 'hour' || resolution === 'daily' ? wholeHistory(rest) : oneDay(rest)
  const symbol = found === null ? null : symbolOf(asset, found.name)
  // Tick files are known for trades of shares only.
  if (found === null || symbol === null || (resolution === 'tick' && (asset !== 'equity' || found.data !== 'trade'))) return null
  return { symbol, asset, venue, resolution, data: found.data, date: found.date }
}

interface Named {
  readonly name: string
  readonly data: DataKind
  readonly date: string | null
}

function wholeHistory([file, ...more]: readonly string[]): Named | null {
  const [, name, data = 'trade'] = /^([a-z0-9.-]+)(?:_(trade|quote))?\.zip$/.exec(file ?? '') ?? []
  return name === undefined || more.length > 0 ? null : { name, data: data === 'quote' ? 'quote' : 'trade', date: null }
}

function oneDay([name, file, ...more]: readonly string[]): Named | null {
  const [, year, month, day, data] = /^(\d{4})(\d{2})(\d{2})_(trade|quote)\.zip$/.exec(file ?? '') ?? []
  const date = `${year}-${month}-${day}`
  if (name === undefined || more.length > 0 || !isDay(date)) return null
  return { name, data: data === 'quote' ? 'quote' : 'trade', date }
}

function isDay(date: string): boolean {
  try {
    return parseDay(date, 'date') === date
  } catch {
    return false
  }
}

function symbolOf(asset: 'equity' | 'crypto', name: string): string | null {
  if (asset === 'equity') return name.toUpperCase()
  const quote = QUOTE_CURRENCIES.find(currency => name.endsWith(currency) && name.length > currency.length)
  return quote === undefined ? null : `${name.slice(0, -quote.length)}/${quote}`.toUpperCase()
}

async function zones(folder: string): Promise<(asset: 'equity' | 'crypto', venue: string) => string> {
  const entries = await hours(folder)
  return (asset, venue) => {
    const kind = asset === 'equity' ? 'Equity' : 'Crypto'
    const entry = entries[`${kind}-${venue}-[*]`]
    const zone = typeof entry === 'object' && entry !== null && 'dataTimeZone' in entry ? entry.dataTimeZone : undefined
    return typeof zone === 'string' ? zone : ZONES[asset]
  }
}

async function hours(folder: string): Promise<Readonly<Record<string, unknown>>> {
  for (const name of HOURS_FILES) {
    const file = join(folder, name)
    const size = await stat(file).then(
      found => found.size,
      () => null
    )
    if (size === null) continue
    if (size > HOURS_BYTES_MAX) throw new BadMarketData('zip_too_big', { file }, `${size} bytes, ${HOURS_BYTES_MAX} are allowed`)
    let content: unknown
    try {
      content = JSON.parse(await readFile(file, 'utf8'))
    } catch (cause) {
      throw new BadMarketData('columns', { file }, 'this is no JSON; fetch it again', cause)
    }
    const entries = typeof content === 'object' && content !== null && 'entries' in content ? content.entries : null
    return typeof entries === 'object' && entries !== null ? { ...entries } : {}
  }
  return {}
}
