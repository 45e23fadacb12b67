/** Bars built from prints or from finer bars, exactly. */
import type { Micros } from '../engine/types.ts'
import { billionths, fromBillionths } from './lean/numbers.ts'
import type { Bar, BarInterval, FeedTrade } from './types.ts'

const SECOND: Micros = 1_000_000

/** Length of a bar. That of `1d` is nominal: its days come from a calendar. */
export const INTERVAL_LENGTHS: { readonly [Interval in BarInterval]: Micros } = {
  '1s': SECOND,
  '1m': 60 * SECOND,
  '5m': 300 * SECOND,
  '15m': 900 * SECOND,
  '30m': 1_800 * SECOND,
  '1h': 3_600 * SECOND,
  '1d': 86_400 * SECOND
}

/** A bar in integers: prices and volume in billionths. A bar with volume only has prices of 0: see {@link isPriced}. */
export interface RawBar {
  readonly start: Micros
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly close: bigint
  readonly volume: bigint
}

/** The bar of a single print; `volume`: the print counts only for the volume. */
export function printBar(start: Micros, price: string, size: string, effect?: 'volume'): RawBar {
  const value = effect === 'volume' ? 0n : billionths(price)
  return { start, open: value, high: value, low: value, close: value, volume: billionths(size) }
}

/** Whether it has prices. Unpriced volume is not a bar yet: it joins the first priced one of its interval. */
export function isPriced({ open }: RawBar): boolean {
  return open > 0n
}

/** One bar of `earlier` followed by `later`. */
export function joined(earlier: RawBar, later: RawBar): RawBar {
  if (!isPriced(earlier)) return { ...later, start: earlier.start, volume: earlier.volume + later.volume }
  if (!isPriced(later)) return { ...earlier, volume: earlier.volume + later.volume }
  return {
    start: earlier.start,
    open: earlier.open,
    high: later.high > earlier.high ? later.high : earlier.high,
    low: later.low < earlier.low ? later.low : earlier.low,
    close: later.close,
    volume: earlier.volume + later.volume
  }
}

/** Combines ascending bars into longer ones; `startOf` returns the start of the bar that one belongs to. */
export function regrouped(bars: Iterable<RawBar>, startOf: (at: Micros) => Micros): readonly RawBar[] {
  const groups: RawBar[] = []
  for (const bar of bars) {
    const start = startOf(bar.start)
    const last = groups.at(-1)
    if (last?.start === start) groups[groups.length - 1] = joined(last, bar)
    else groups.push({ ...bar, start })
  }
  return groups
}

/** Starts of bars of one length, counted from the epoch. */
export function byLength(length: Micros): (at: Micros) => Micros {
  return at => at - (at % length)
}

export function toBar(raw: RawBar, closed: boolean): Bar {
  return {
    start: raw.start,
    open: fromBillionths(raw.open),
    high: fromBillionths(raw.high),
    low: fromBillionths(raw.low),
    close: fromBillionths(raw.close),
    volume: fromBillionths(raw.volume),
    closed
  }
}

/** The latest bars of one length, from prints in time order. Forgets the oldest beyond `barsMax`. */
export class BarSeries {
  readonly #length: Micros
  readonly #barsMax: number
  readonly #bars: RawBar[] = []

  constructor(length: Micros, barsMax: number) {
    this.#length = length
    this.#barsMax = barsMax
  }

  add({ at, price, size, effect }: FeedTrade): void {
    const print = printBar(at - (at % this.#length), price, size, effect)
    const last = this.#bars.at(-1)
    if (last?.start === print.start) {
      this.#bars[this.#bars.length - 1] = joined(last, print)
      return
    }
    this.#bars.push(print)
    if (this.#bars.length > this.#barsMax) this.#bars.shift()
  }

  /** The bars that start at or after `from`. */
  since(from: Micros): readonly RawBar[] {
    return this.#bars.filter(bar => bar.start >= from && isPriced(bar))
  }
}
