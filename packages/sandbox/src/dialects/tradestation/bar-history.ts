/** Past bars in TradeStation's intervals, made of the market's. */

import {
  BARS_MAX,
  type Bar,
  billionths,
  type Instrument,
  isPriced,
  joined,
  type Market,
  type Micros,
  type RawBar
} from '../frame/brokerage.ts'
import type { Frame, Framing } from './bar-frames.ts'

export interface FramedBar {
  readonly frame: Frame
  readonly bar: RawBar
}

export interface Span {
  /** The first and the last label wanted. */
  readonly from: Micros
  readonly to: Micros
  /** The present; the bar under way is there when `to` reaches it. */
  readonly now: Micros
  /** The newest so many. */
  readonly most: number
}

/** Ascending. */
export async function pastBars(market: Market, instrument: Instrument, framing: Framing, span: Span): Promise<readonly FramedBar[]> {
  const { from, now, most } = span
  const reachesNow = span.to >= now
  // Nothing earlier can be part of a bar that is named by `from`.
  const earliest = Math.max(0, from - framing.length)
  const found: FramedBar[] = []
  let to = Math.min(span.to, now) + 1
  while (to > earliest && found.length <= most) {
    const query = { symbol: instrument.symbol, interval: framing.base, from: earliest, to, now, limit: BARS_MAX }
    const bars = await market.bars(query)
    addBefore(found, framed(bars, framing))
    const [first] = bars
    if (first === undefined || bars.length < BARS_MAX) break
    to = first.start
  }
  const wanted = found.filter(({ frame }) => frame.label >= from && (frame.label <= span.to || (reachesNow && frame.start <= now)))
  // The oldest may lack its beginning where more were looked at than wanted.
  return wanted.slice(-most)
}

export function rawOf({ start, open, high, low, close, volume }: Bar): RawBar {
  return {
    start,
    open: billionths(open),
    high: billionths(high),
    low: billionths(low),
    close: billionths(close),
    volume: billionths(volume)
  }
}

function framed(bars: readonly Bar[], { of }: Framing): FramedBar[] {
  const found: FramedBar[] = []
  for (const bar of bars) {
    const frame = of(bar.start)
    if (frame === null) continue
    const raw = rawOf(bar)
    if (!isPriced(raw)) continue
    const last = found.at(-1)
    if (last?.frame.start === frame.start) found[found.length - 1] = { frame, bar: joined(last.bar, raw) }
    else found.push({ frame, bar: raw })
  }
  return found
}

function addBefore(found: FramedBar[], earlier: FramedBar[]): void {
  const [first] = found
  const last = earlier.at(-1)
  if (first !== undefined && last?.frame.start === first.frame.start) {
    found[0] = { frame: first.frame, bar: joined(last.bar, first.bar) }
    earlier.pop()
  }
  found.unshift(...earlier)
}
