// The bars of a chart, read again and again: from the last one on, since all before it are closed.
import { get, read } from '../api.ts'
import type { MarketBar, MarketBars } from '../generated/admin.ts'

/** Intervals that are offered. */
export const INTERVAL_NAMES = ['1m', '5m', '15m', '1h', '1d'] as const
export type Interval = (typeof INTERVAL_NAMES)[number]
/** Their lengths in milliseconds. */
const INTERVALS: Readonly<Record<Interval, number>> = { '1m': 60_000, '5m': 300_000, '15m': 900_000, '1h': 3_600_000, '1d': 86_400_000 }

/** Shown at once; older ones go. */
export const BARS_MAX = 300
/** How much longer the window is in which bars are looked for, where the market was closed for most of it. */
const WIDER = [1, 8, 40] as const
/** Which bars. */
export interface Series {
  readonly userKey: string
  readonly connectionId: string
  readonly symbol: string
  readonly interval: Interval
}

/** Bars in order, and the market's time at which they were so. */
export interface Bars {
  readonly bars: readonly MarketBar[]
  readonly asOf: string
}

/** Reads all bars that start in a window, given in milliseconds since the epoch. @throws Refusal */
export type ReadBars = (fromMs: number, toMs: number) => Promise<Bars>

/** The newest bars of an interval. `nowMs`: the present as the browser has it, in milliseconds since the epoch. @throws Refusal */
export async function firstBars(readBars: ReadBars, interval: Interval, nowMs: number): Promise<Bars> {
  const lengthMs = INTERVALS[interval] * BARS_MAX
  let presentMs = nowMs
  let found: Bars = { bars: [], asOf: '' }
  for (const times of WIDER) {
    found = await readBars(presentMs - lengthMs * times, presentMs + lengthMs)
    const asOfMs = Date.parse(found.asOf)
    // The sandbox's clock can be days ahead of this browser's.
    if (Math.abs(asOfMs - presentMs) > lengthMs / 2) found = await readBars(asOfMs - lengthMs * times, asOfMs + lengthMs)
    presentMs = asOfMs
    if (found.bars.length >= BARS_MAX / 2) break
  }
  return merged([], found)
}

/** The same, after they were read before. @throws Refusal */
export async function furtherBars(readBars: ReadBars, interval: Interval, { bars, asOf }: Bars): Promise<Bars> {
  const lengthMs = INTERVALS[interval] * BARS_MAX
  const asOfMs = Date.parse(asOf)
  const last = bars.at(-1)
  // A bar that is older than the window is closed, and nothing began between it and what was the present.
  const from = Math.max(asOfMs - lengthMs, last === undefined ? 0 : Date.parse(last.start))
  const found = await readBars(from, asOfMs + lengthMs)
  const isPassedOver = Date.parse(found.asOf) - asOfMs > lengthMs
  // The sandbox's clock was set forward, beyond what was read.
  return isPassedOver ? await firstBars(readBars, interval, Date.parse(found.asOf)) : merged(bars, found)
}

/** Reads the bars of a series. */
export function readerOf({ userKey, connectionId, symbol, interval }: Series, signal: AbortSignal): ReadBars {
  const path = '/sandbox/users/{user_key}/connections/{connection_id}/market-data/bars'
  const parts = { user_key: userKey, connection_id: connectionId }
  return async (fromMs, toMs) => {
    const end = new Date(toMs).toISOString()
    const bars: MarketBar[] = []
    for (let start = new Date(fromMs).toISOString(); ; ) {
      const page: MarketBars = await read(get(path, parts, { symbol, interval, start, end, limit: '5000' }), signal)
      bars.push(...page.bars)
      if (page.next_start === null) return { bars, asOf: page.as_of }
      start = page.next_start
    }
  }
}

/** The bars of before, with what is read of them again in their place, and the newest of all. */
export function merged(before: readonly MarketBar[], { bars, asOf }: Bars): Bars {
  const [first] = bars
  const kept = first === undefined ? before : before.filter(({ start }) => Date.parse(start) < Date.parse(first.start))
  return { bars: [...kept, ...bars].slice(-BARS_MAX), asOf }
}

/** A bar as the chart takes it, in the form of the market data stream. */
export function wireBar({ start, open: o, high: h, low: l, close: c, volume: v, closed }: MarketBar) {
  return { ...{ o, h, l, c, v }, ts: `${Date.parse(start)}000000`, st: closed ? ('c' as const) : ('o' as const) }
}
