/** Rebuilds bars from a playback, independently of the market's own code. */
import assert from 'node:assert/strict'
import { compare, type Decimal, parseDecimal, plus } from '@trunkline/core/domain/decimal'
import type { Micros } from '../../src/engine/types.ts'
import type { Bar, FeedCommand, FeedTrade, Market } from '../../src/market/index.ts'

export interface Ohlcv {
  open: Decimal
  high: Decimal
  low: Decimal
  close: Decimal
  volume: Decimal
}

/** Everything a market delivers up to `until`, in one list. */
export async function playAll(market: Market, until: Micros): Promise<readonly FeedCommand[]> {
  const commands: FeedCommand[] = []
  for (;;) {
    const delivery = await market.next(until)
    for (const command of delivery.commands) commands.push(command)
    if (delivery.through >= until) return commands
  }
}

/** Bars of a symbol's prints, by start. Prints that count only for the volume make no bar, but join one of their interval. */
export function tradeBars(commands: readonly FeedCommand[], symbol: string, length: Micros): Map<Micros, Ohlcv> {
  const bars = new Map<Micros, Ohlcv>()
  const beside: FeedTrade[] = []
  for (const command of commands) {
    if (command.type !== 'trade' || command.symbol !== symbol) continue
    if (command.effect === 'volume') beside.push(command)
    else fold(bars, command.at - (command.at % length), command.price, command.size)
  }
  for (const { at, size } of beside) {
    const bar = bars.get(at - (at % length))
    if (bar !== undefined) bar.volume = plus(bar.volume, parseDecimal(size, 'size'))
  }
  for (const bar of bars.values()) bar.volume = plus(bar.volume, parseDecimal('0', 'zero'))
  return bars
}

/** Bars of one side of a symbol's best quotes; the volume is the last size. */
export function quoteBars(commands: readonly FeedCommand[], symbol: string, side: 'bids' | 'asks', length: Micros): Map<Micros, Ohlcv> {
  const bars = new Map<Micros, Ohlcv>()
  for (const command of commands) {
    if (command.type !== 'quote' || command.symbol !== symbol) continue
    const [best] = command[side]
    if (best === undefined) continue
    const start = command.at - (command.at % length)
    fold(bars, start, best[0], '0')
    const bar = bars.get(start)
    if (bar !== undefined) bar.volume = parseDecimal(best[1], 'size')
  }
  return bars
}

function fold(bars: Map<Micros, Ohlcv>, start: Micros, priceText: string, sizeText: string): void {
  const price = parseDecimal(priceText, 'price')
  const size = parseDecimal(sizeText, 'size')
  const bar = bars.get(start)
  if (bar === undefined) {
    bars.set(start, { open: price, high: price, low: price, close: price, volume: size })
    return
  }
  if (compare(price, bar.high) > 0) bar.high = price
  if (compare(price, bar.low) < 0) bar.low = price
  bar.close = price
  bar.volume = plus(bar.volume, size)
}

/** Whether two bars have the same numbers, in any notation. */
export function same(a: Ohlcv | undefined, b: Ohlcv): boolean {
  if (a === undefined) return false
  return (['open', 'high', 'low', 'close', 'volume'] as const).every(field => compare(a[field], b[field]) === 0)
}

/** Consecutive bars as one. */
export function joined(bars: readonly Bar[]): Ohlcv {
  const [first] = bars
  const last = bars.at(-1)
  assert.ok(first !== undefined && last !== undefined)
  return {
    open: first.open,
    high: bars.map(({ high }) => high).reduce((a, b) => (compare(a, b) > 0 ? a : b)),
    low: bars.map(({ low }) => low).reduce((a, b) => (compare(a, b) < 0 ? a : b)),
    close: last.close,
    volume: bars.map(({ volume }) => volume).reduce((a, b) => plus(a, b))
  }
}
