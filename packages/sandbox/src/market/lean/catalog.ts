/** The contents of a folder of recorded data: the symbol, date, resolution and kind of each file, and the zone of its times. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { midnight } from '@trunkline/core/domain/calendar/index'
import { parseDay } from '@trunkline/core/domain/timestamp'
import { BadMarketData } from './bad-data.ts'
import { type Asset, RESOLUTIONS, type Resolution, type RowFile } from './rows.ts'

export type DataKind = 'trade' | 'quote'

/** One recorded file of a symbol; `date` (`YYYY-MM-DD`) is null for hour and daily files, which have the whole history. */
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

/** One recorded archive of contracts: the options of an underlying, or the months of a root, with one text for each. */
export interface ContractArchive {
  /** The underlying, or the root. */
  readonly root: string
  readonly asset: 'option' | 'future'
  readonly venue: string
  readonly resolution: Resolution
  readonly data: DataKind | 'openinterest'
  /** Null for hour and daily archives, which have the whole history. */
  readonly date: string | null
  readonly rows: RowFile
}

export interface Catalog {
  readonly folder: string
  /** Ordered by root, resolution (finest first), kind and date. */
  readonly archives: readonly ContractArchive[]
  /** Files with a root's margins by date. */
  readonly margins: ReadonlyMap<string, string>
  /**
   * Ordered by symbol, resolution (finest first), kind and date. Of a pair recorded at several venues, the alphabetically first one counts.
   */
  readonly files: readonly RecordedFile[]
  /** The file of a symbol at a resolution, or null. For hour and daily files `date` is ignored. */
  find(wanted: Wanted): RecordedFile | null
}

/** The fields that identify a file within a folder. */
export type Wanted = Pick<RecordedFile, 'symbol' | 'resolution' | 'data' | 'date'>

/** Maximum number of files in a folder; a catalogue entry takes about 300 bytes. */
const FILES_MAX = 200_000
const HOURS_BYTES_MAX = 16_777_216
const HOURS_FILES = ['market-hours.json', join('market-hours', 'market-hours-database.json')]
const ZONES = { equity: 'America/New_York', option: 'America/New_York', crypto: 'UTC', future: 'UTC' } as const
const HOURS_NAMES = { equity: 'Equity', option: 'Option', crypto: 'Crypto', future: 'Future' } as const
const ASSETS = ['equity', 'crypto', 'option', 'future'] as const

// Longest first: a pair that ends in USDT also ends in T, and there may be a crypto currency of that name.
const QUOTE_CURRENCIES = ['usdt', 'usdc', 'busd', 'usd', 'eur', 'gbp', 'jpy', 'btc', 'eth']

/**
 * Scans a folder in the LEAN layout. Skips anything unknown.
 * @throws BadMarketData if the folder is missing, has nothing usable, or has too many files
 */
export async function openCatalog(folder: string): Promise<Catalog> {
  const paths = await listed(folder)
  const zoneOf = await zones(folder)
  const byName = new Map<string, RecordedFile>()
  const archives: ContractArchive[] = []
  const margins = new Map<string, string>()
  for (const path of paths.toSorted()) {
    const parts = path.split(sep)
    const rowsOf = ({ asset, resolution, date }: Pick<RowFile, 'asset' | 'resolution' | 'date'>, zone: string): RowFile => ({
      file: join(folder, path),
      asset,
      resolution,
      date,
      midnight: day => midnight(parseDay(day, 'date'), zone) * 1_000
    })
    const location = locationOf(parts)
    const name = location === null ? '' : nameOf(location)
    if (location !== null && !byName.has(name))
      byName.set(name, { ...location, rows: rowsOf(location, zoneOf(location.asset, location.venue)) })
    const archive = archiveOf(parts)
    if (archive !== null) archives.push({ ...archive, rows: rowsOf(archive, zoneOf(archive.asset, archive.venue, archive.root)) })
    const root = marginsOf(parts)
    if (root !== null && !margins.has(root)) margins.set(root, join(folder, path))
  }
  if (byName.size === 0 && archives.length === 0)
    throw new BadMarketData(
      'missing',
      { file: folder },
      'nothing recorded in here; name the folder that holds equity/, crypto/, option/ or future/'
    )
  const order = { files: [...byName.values()].toSorted(inOrder), archives: archives.toSorted(archivesInOrder) }
  return { folder, ...order, margins, find: wanted => byName.get(nameOf(wanted)) ?? null }
}

function nameOf({ symbol, resolution, data, date }: Wanted): string {
  return [symbol, resolution, data, resolution === 'hour' || resolution === 'daily' ? '' : date].join(' ')
}

function inOrder(a: RecordedFile, b: RecordedFile): number {
  return compareTexts(a.symbol, b.symbol) || byGrain(a, b)
}

function archivesInOrder(a: ContractArchive, b: ContractArchive): number {
  return compareTexts(a.asset, b.asset) || compareTexts(a.root, b.root) || byGrain(a, b)
}

type Grain = Pick<ContractArchive, 'resolution' | 'data' | 'date'>

function byGrain(a: Grain, b: Grain): number {
  return (
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
  for (const asset of ASSETS) {
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

type FileLocation = Omit<RecordedFile, 'rows'>

function locationOf(parts: readonly string[]): FileLocation | null {
  const [asset, venue, folder, ...rest] = parts
  const resolution = RESOLUTIONS.find(name => name === folder)
  if ((asset !== 'equity' && asset !== 'crypto') || venue === undefined || resolution === undefined) return null
  const found = resolution === 'hour' || resolution === 'daily' ? wholeHistory(rest) : oneDay(rest)
  const symbol = found === null ? null : symbolOf(asset, found.name)
  // Tick files are supported only for trades of shares.
  if (found === null || symbol === null || (resolution === 'tick' && (asset !== 'equity' || found.data !== 'trade'))) return null
  return { symbol, asset, venue, resolution, data: found.data, date: found.date }
}

/** `option/usa/minute/goog/20151223_quote_american.zip`, `future/cme/minute/es/20131007_trade.zip`, `future/cme/daily/es_trade.zip`. */
function archiveOf(parts: readonly string[]): Omit<ContractArchive, 'rows'> | null {
  const [asset, venue, folder, ...rest] = parts
  const resolution = RESOLUTIONS.find(name => name === folder)
  if ((asset !== 'option' && asset !== 'future') || venue === undefined || resolution === undefined || resolution === 'tick') return null
  const whole = resolution === 'hour' || resolution === 'daily'
  // Hour and daily options are recorded per year in another layout.
  if (whole && asset === 'option') return null
  const [name, file, ...more] = whole ? [rest[0]?.split('_')[0], rest[0], ...rest.slice(1)] : rest
  const pattern = whole ? /^[a-z0-9]+_(trade|quote)\.zip$/ : /^\d{8}_(trade|quote|openinterest)(?:_american|_european)?\.zip$/
  const [, data] = pattern.exec(file ?? '') ?? []
  const date = whole || file === undefined ? null : `${file.slice(0, 4)}-${file.slice(4, 6)}-${file.slice(6, 8)}`
  if (name === undefined || more.length > 0 || (date !== null && !isDay(date))) return null
  const kind = data === 'trade' || data === 'quote' || data === 'openinterest' ? data : null
  return kind === null ? null : { root: name.toUpperCase(), asset, venue, resolution, data: kind, date }
}

/** `future/cme/margins/ES.csv` */
function marginsOf(parts: readonly string[]): string | null {
  const [asset, , folder, file, ...more] = parts
  const [, root] = /^([A-Za-z0-9]{1,6})\.csv$/.exec(file ?? '') ?? []
  return asset === 'future' && folder === 'margins' && root !== undefined && more.length === 0 ? root.toUpperCase() : null
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

async function zones(folder: string): Promise<(asset: Asset, venue: string, root?: string) => string> {
  const entries = await hours(folder)
  return (asset, venue, root = '[*]') => {
    const market = `${HOURS_NAMES[asset]}-${venue}`
    const entry = entries[`${market}-${root}`] ?? entries[`${market}-[*]`]
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
      throw new BadMarketData('columns', { file }, 'this is not JSON; fetch it again', cause)
    }
    const entries = typeof content === 'object' && content !== null && 'entries' in content ? content.entries : null
    return typeof entries === 'object' && entries !== null ? { ...entries } : {}
  }
  return {}
}
