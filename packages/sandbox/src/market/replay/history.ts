/** Bars of recorded data: the recorded ones if they exist, otherwise built from the next finer recording. */
import type { Micros } from '../../engine/types.ts'
import { byLength, INTERVAL_LENGTHS, isPriced, joined, printBar, type RawBar, regrouped, toBar } from '../bar-series.ts'
import { coreSession, isInCoreSession } from '../core-session.ts'
import { daysOf } from '../day-starts.ts'
import { listingOf } from '../instruments.ts'
import { billionths } from '../lean/numbers.ts'
import { type Resolution, tradeBars, tradeTicks } from '../lean/rows.ts'
import { saleEffects } from '../lean/sale-conditions.ts'
import { BARS_MAX, type Bar, type BarInterval, type BarsQuery } from '../types.ts'
import { tickPrint } from './expand.ts'
import type { TapeFile } from './tape.ts'

/** The sources of a bar, best first. */
const BASES: { readonly [Interval in BarInterval]: readonly Resolution[] } = {
  '1s': ['second', 'tick'],
  '1m': ['minute', 'second', 'tick'],
  '5m': ['minute', 'second', 'tick'],
  '15m': ['minute', 'second', 'tick'],
  '30m': ['minute', 'second', 'tick'],
  '1h': ['hour', 'minute', 'second', 'tick'],
  '1d': ['daily', 'hour', 'minute', 'second', 'tick']
}

const LENGTHS: { readonly [Name in Resolution]: Micros } = {
  tick: INTERVAL_LENGTHS['1s'],
  second: INTERVAL_LENGTHS['1s'],
  minute: INTERVAL_LENGTHS['1m'],
  hour: INTERVAL_LENGTHS['1h'],
  daily: INTERVAL_LENGTHS['1d']
}

/** Files kept unpacked; the least recently used is dropped first. A day of seconds has some megabytes. */
const CACHE_MAX = 4
const DAY = INTERVAL_LENGTHS['1d']

export interface Recording {
  /** Files of this symbol, ascending by date within each resolution. */
  readonly files: readonly TapeFile[]
  /** The zone of the days of daily bars. */
  readonly zone: string
  /** At least the prints since the last recorded bar's end. */
  readonly live: readonly RawBar[]
}

export class RecordedHistory {
  readonly #cache = new Map<TapeFile, Promise<readonly RawBar[]>>()

  /**
   * Recorded bars that had ended by `now`, followed by the open one, made of `live` prints.
   * @throws BadMarketData
   */
  async bars(query: BarsQuery, { files, zone, live }: Recording): Promise<readonly Bar[]> {
    const { interval, from, to, now } = query
    const isCore = query.session === 'core'
    const limit = Math.min(query.limit ?? BARS_MAX, BARS_MAX)
    const days = daysOf(zone)
    const length = INTERVAL_LENGTHS[interval]
    const startOf = interval === '1d' ? (at: Micros): Micros => days(at).start : byLength(length)
    const endOf =
      interval === '1d'
        ? (start: Micros): Micros => (isCore ? coreSession(start)?.end : null) ?? days(start).end
        : (start: Micros): Micros => start + length
    const wanted = (bar: RawBar): boolean => bar.start >= from && bar.start < to
    const open = regrouped(isCore ? live.filter(({ start }) => isInCoreSession(start)) : live, startOf).filter(
      bar => wanted(bar) && bar.start <= now && endOf(bar.start) > now
    )
    for (const base of BASES[interval]) {
      // An hour that contains the opening includes the trades before it.
      if (isCore && base === 'hour') continue
      const rows = await this.#rows(files, base, {
        from,
        to: Math.min(to + length, now),
        limit: limit * Math.ceil(length / LENGTHS[base])
      })
      const counted = isCore && base !== 'daily' ? rows.filter(({ start }) => isInCoreSession(start)) : rows
      const closed = regrouped(counted, startOf).filter(bar => wanted(bar) && endOf(bar.start) <= now)
      if (closed.length > 0) return [...closed.map(bar => toBar(bar, true)), ...open.map(bar => toBar(bar, false))].slice(-limit)
    }
    return open.map(bar => toBar(bar, false)).slice(-limit)
  }

  /** Rows that start at or after `from` and end by `to`: the newest `limit`, and somewhat more. */
  async #rows(
    all: readonly TapeFile[],
    resolution: Resolution,
    stretch: { readonly from: Micros; readonly to: Micros; readonly limit: number }
  ): Promise<readonly RawBar[]> {
    const { from, to, limit } = stretch
    const files = all.filter(file => file.data === 'trade' && file.rows.resolution === resolution)
    const parts: (readonly RawBar[])[] = []
    let count = 0
    for (const file of files.toReversed()) {
      const start = file.rows.date === null ? null : file.rows.midnight(file.rows.date)
      if (start !== null && (start > to || start + DAY <= from)) continue
      const rows = (await this.#unpacked(file)).filter(row => row.start >= from && row.start + LENGTHS[resolution] <= to)
      parts.unshift(rows)
      count += rows.length
      if (count >= limit) break
    }
    return parts.flat()
  }

  #unpacked(file: TapeFile): Promise<readonly RawBar[]> {
    const known = this.#cache.get(file)
    if (known !== undefined) {
      this.#cache.delete(file)
      this.#cache.set(file, known)
      return known
    }
    const bars = unpack(file)
    this.#cache.set(file, bars)
    // An unreadable file may be repaired, so the failure is not cached.
    bars.catch(() => this.#cache.delete(file))
    const [oldest] = this.#cache.keys()
    if (this.#cache.size > CACHE_MAX && oldest !== undefined) this.#cache.delete(oldest)
    return bars
  }
}

async function unpack({ symbol, rows }: TapeFile): Promise<readonly RawBar[]> {
  const bars: RawBar[] = []
  if (rows.resolution === 'tick') {
    const effectOf = saleEffects(listingOf(symbol))
    const second = byLength(LENGTHS.tick)
    for await (const ticks of tradeTicks(rows))
      for (const tick of ticks)
        for (const { at, price, size, effect } of tickPrint(symbol, tick, effectOf(tick))) bars.push(printBar(at, price, size, effect))
    return priced(regrouped(bars, second))
  }
  for await (const batch of tradeBars(rows))
    for (const { at, open, high, low, close, volume } of batch) {
      const traded = billionths(volume)
      // Thin futures have recorded minutes of volume 0: without trades, so they get no prints.
      if (traded > 0n) bars.push({ start: at, open: open.value, high: high.value, low: low.value, close: close.value, volume: traded })
    }
  return bars
}

/** The volume of a second without a price belongs to the bar before, as in the recording. */
function priced(bars: readonly RawBar[]): readonly RawBar[] {
  const found: RawBar[] = []
  for (const bar of bars) {
    const before = found.at(-1)
    if (isPriced(bar)) found.push(bar)
    else if (before !== undefined) found[found.length - 1] = joined(before, bar)
  }
  return found
}
