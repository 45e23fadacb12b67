/** The recorded option contracts and futures months: the entries of the archives, as instruments with their files. */
import { regularSession, usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import type { Micros } from '../../engine/types.ts'
import { marginsOn } from '../futures/margins.ts'
import { futureSymbol, lastTradeOf, monthText } from '../futures/months.ts'
import { ROOT_FACTS, ROOTS } from '../futures/roots.ts'
import type { CalendarChoice } from '../hours.ts'
import { futureInstrument, optionInstrument } from '../instruments.ts'
import type { Catalog, ContractArchive } from '../lean/catalog.ts'
import type { RowFile } from '../lean/rows.ts'
import { zipEntries } from '../lean/zip.ts'
import { optionSymbol, strikeText } from '../options/occ.ts'
import type { Instrument } from '../types.ts'
import type { Programme } from './programme.ts'
import type { TapeFile } from './tape.ts'

export interface RecordedContract {
  readonly instrument: Instrument
  readonly lastTradeAt: Micros
  /** Of the dates in the replay. */
  readonly quotes: readonly TapeFile[]
  readonly trades: readonly TapeFile[]
  readonly openInterest: readonly RowFile[]
  /** Everything recorded for it, for bars. */
  readonly files: readonly TapeFile[]
}

/** Archives that are read for the bars of earlier days; the newest are preferred. */
const KNOWN_MAX = 120
/** Sorts after every date. */
const ALWAYS = 'always'
/** Recorded strikes are × 10,000, those in symbols × 1,000. */
const STRIKE_SCALE = 10

/**
 * By symbol, in the order of underlying, expiration, strike and call before put; futures by root and month. Futures of roots with unknown
 * terms are skipped.
 * @throws BadMarketData
 */
export async function recordedContracts(
  catalog: Catalog,
  { archives, dates }: Programme,
  choice: CalendarChoice
): Promise<ReadonlyMap<string, RecordedContract>> {
  const instruments = new InstrumentMaker(catalog, dates.first, choice)
  const drafts = new Map<string, Draft>()
  const known = archives.known.toSorted((a, b) => compare(a.date ?? ALWAYS, b.date ?? ALWAYS)).slice(-KNOWN_MAX)
  for (const archive of new Set([...archives.played, ...known])) {
    const played = archives.played.includes(archive)
    for (const entry of await zipEntries(archive.rows.file)) {
      const instrument = await instruments.of(archive, entry.fileName)
      if (instrument === null) continue
      const draft = drafts.get(instrument.symbol) ?? { instrument, quotes: [], trades: [], openInterest: [], files: [] }
      const rows = { ...archive.rows, entry }
      if (played || drafts.has(instrument.symbol)) file(draft, { archive, rows, played })
      if (played) drafts.set(instrument.symbol, draft)
    }
  }
  const contracts = [...drafts.values()].map(draft => ({
    ...draft,
    files: draft.files.toSorted((a, b) => compare(a.rows.date ?? '', b.rows.date ?? '')),
    lastTradeAt: (draft.instrument.option ?? draft.instrument.future)?.lastTradeAt ?? 0
  }))
  return new Map(contracts.toSorted((a, b) => inOrder(a.instrument, b.instrument)).map(contract => [contract.instrument.symbol, contract]))
}

interface Draft {
  readonly instrument: Instrument
  readonly quotes: TapeFile[]
  readonly trades: TapeFile[]
  readonly openInterest: RowFile[]
  readonly files: TapeFile[]
}

interface Entry {
  readonly archive: ContractArchive
  readonly rows: RowFile
  readonly played: boolean
}

function file(draft: Draft, { archive: { data }, rows, played }: Entry): void {
  if (data === 'openinterest') {
    if (played) draft.openInterest.push(rows)
    return
  }
  const one = { symbol: draft.instrument.symbol, data, rows }
  draft.files.push(one)
  if (played) (data === 'quote' ? draft.quotes : draft.trades).push(one)
}

class InstrumentMaker {
  readonly #catalog: Catalog
  readonly #date: string
  readonly #choice: CalendarChoice
  readonly #made = new Map<string, Instrument>()

  constructor(catalog: Catalog, date: string, choice: CalendarChoice) {
    this.#catalog = catalog
    this.#date = date
    this.#choice = choice
  }

  async of(archive: ContractArchive, entry: string): Promise<Instrument | null> {
    const name = `${archive.root} ${entry.replace(/^.*?(?=(?:call|put)_|\d+\.csv$)/, '')}`
    const known = this.#made.get(name)
    if (known !== undefined) return known
    const made = archive.asset === 'option' ? this.#option(archive, entry) : await this.#future(archive, entry)
    if (made !== null) this.#made.set(name, made)
    return made
  }

  /** `20151223_goog_minute_quote_american_call_6000000_20151224.csv` */
  #option({ root: underlying }: ContractArchive, entry: string): Instrument | null {
    const [, style, side, digits, year, month, day] =
      /_(american|european)_(call|put)_(\d{1,10})_(\d{4})(\d{2})(\d{2})\.csv$/.exec(entry) ?? []
    const strike = Number(digits) / STRIKE_SCALE
    if (side === undefined || !Number.isInteger(strike) || strike === 0) return null
    const expiration = `${year}-${month}-${day}`
    const lastTradeAt = endOf(expiration)
    if (lastTradeAt === null) return null
    const right = side === 'call' ? 'call' : 'put'
    const terms = { underlying, right, strike: strikeText(strike), expiration, lastTradeAt } as const
    const kind =
      style === 'european' ? ({ style: 'european', settlement: 'cash' } as const) : ({ style: 'american', settlement: 'physical' } as const)
    return optionInstrument(optionSymbol({ underlying, expiration, right, strike }), { ...terms, ...kind }, this.#choice)
  }

  /** `20131007_es_minute_trade_201312.csv` */
  async #future({ root: name }: ContractArchive, entry: string): Promise<Instrument | null> {
    const root = ROOTS.find(known => known === name)
    const [, year, digits] = /_(\d{4})(0[1-9]|1[0-2])(?:\d{2})?\.csv$/.exec(entry) ?? []
    if (root === undefined || year === undefined) return null
    const month = `${year}-${digits}`
    const { name: rootName, exchange, tick, multiplier, lastTrade, initialMargin, maintenanceMargin } = ROOT_FACTS[root]
    const margins = await this.#margins(root)
    const future = { root, month, lastTradeAt: lastTradeOf(lastTrade, month), initialMargin, maintenanceMargin, ...margins }
    const symbol = futureSymbol({ root, month })
    return futureInstrument({ symbol, name: `${rootName} ${monthText(month)}`, exchange, tick, multiplier, future }, this.#choice)
  }

  async #margins(root: string) {
    const path = this.#catalog.margins.get(root)
    return path === undefined ? null : await marginsOn(path, this.#date)
  }
}

const calendar = usEquityCalendar()

/** Contracts recorded as expiring on a day without trading, as on Saturdays until 2015, end with the trading day before. */
function endOf(expiration: string): Micros | null {
  try {
    const date = calendar.isTradingDay(expiration) ? expiration : calendar.previousTradingDay(expiration)
    const session = regularSession(calendar, date)
    return session === null ? null : session.end * 1_000
  } catch {
    return null // no such day, or one before the calendar begins
  }
}

function inOrder(a: Instrument, b: Instrument): number {
  if (a.future !== undefined && b.future !== undefined)
    return compare(a.future.root, b.future.root) || compare(a.future.month, b.future.month)
  if (a.option === undefined || b.option === undefined) return a.option === undefined ? 1 : -1
  return (
    compare(a.option.underlying, b.option.underlying) ||
    compare(a.option.expiration, b.option.expiration) ||
    Number(a.option.strike) - Number(b.option.strike) ||
    compare(a.option.right, b.option.right)
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
