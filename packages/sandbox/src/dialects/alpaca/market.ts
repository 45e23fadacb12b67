/** Market data as Alpaca has it: bars with its days of crypto, and records whose prices and sizes are numbers, one letter a field. */

import { compare, plus } from '@trunkline/core/domain/decimal'
import {
  type Bar,
  type BarInterval,
  type FeedTrade,
  firstBars,
  type Instrument,
  type Micros,
  type QuoteCommand
} from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { nanosOf } from './values.ts'

/** The three kinds of endpoints, and what they have. */
export const ENDPOINT_KINDS = { stocks: 'STK', crypto: 'CRYPTO', options: 'OPT' } as const satisfies Record<string, Instrument['kind']>
export type Kind = keyof typeof ENDPOINT_KINDS

const CHUNK = 2_000

export interface Stretch {
  readonly interval: BarInterval
  /** Both inclusive. */
  readonly from: Micros
  readonly to: Micros
}

/** Bars that start in the stretch. Minutes come once they are over; longer bars with what there is of the last. */
export function barsOf(brokerage: BrokerageView, { symbol, kind }: Instrument, stretch: Stretch): AsyncIterable<Bar> {
  const { interval, from, to } = stretch
  if (interval !== '1d' || kind !== 'CRYPTO') return stored(brokerage, symbol, stretch)
  // A pair's day begins at midnight in Chicago, and the sandbox's own at midnight UTC: days are made of hours.
  const first = chicagoDay(from) < from ? chicagoDay(from, 1) : from
  return days(stored(brokerage, symbol, { interval: '1h', from: first, to: chicagoDay(to, 1) - 1 }))
}

async function* stored({ market, clock }: BrokerageView, symbol: string, { interval, to, ...rest }: Stretch): AsyncGenerator<Bar> {
  const now = clock.now()
  for (let { from } = rest; ; ) {
    const chunk = await firstBars(market, { symbol, interval, from, to: to + 1, now }, CHUNK)
    for (const bar of chunk) if (bar.closed || (interval !== '1m' && interval !== '1s')) yield bar
    const last = chunk.at(-1)
    if (last === undefined || chunk.length < CHUNK) return
    from = last.start + 1
  }
}

/** The start of the day in Chicago, or of one some days later. */
function chicagoDay(at: Micros, days = 0): Micros {
  const there = Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1000)).toZonedDateTimeISO('America/Chicago')
  return there.startOfDay().add({ days }).epochMilliseconds * 1000
}

/** Ascending hours as days. */
async function* days(hours: AsyncIterable<Bar>): AsyncGenerator<Bar> {
  let day: Bar | undefined
  for await (const hour of hours) {
    const start = chicagoDay(hour.start)
    if (day !== undefined && day.start !== start) yield day
    day = day?.start === start ? joined(day, hour) : { ...hour, start }
  }
  if (day !== undefined) yield day
}

function joined({ start, open, high, low, volume }: Bar, { close, closed, ...later }: Bar): Bar {
  return {
    ...{ start, open, close, closed },
    high: compare(high, later.high) >= 0 ? high : later.high,
    low: compare(low, later.low) <= 0 ? low : later.low,
    volume: plus(volume, later.volume)
  }
}

/** Whole seconds. */
export function secondOf(at: Micros): string {
  return `${new Date(Math.floor(at / 1000)).toISOString().slice(0, 19)}Z`
}

export function barWire({ start, open, high, low, close, volume }: Bar): object {
  return { t: secondOf(start), o: Number(open), h: Number(high), l: Number(low), c: Number(close), v: Number(volume) }
}

/** `i` is unique in its symbol. */
export function tradeWire(
  kind: Kind,
  i: number,
  { at, price, size, venue, effect }: Omit<FeedTrade, 'type' | 'symbol' | 'auction'>
): object {
  const trade = { t: nanosOf(at), p: Number(price), s: Number(size) }
  if (kind === 'crypto') return { ...trade, i }
  // Where it happened is one letter: IEX, and a market of options.
  if (kind === 'options') return { ...trade, x: 'C', c: 'I' }
  // A regular sale; one that only counts for the volume is an average price trade.
  return { ...trade, x: venue?.length === 1 ? venue : 'V', i, c: effect === 'volume' ? ['@', 'W'] : ['@'], z: 'C' }
}

/** Nothing is 0. */
export function quoteWire({ at, bids, asks }: Pick<QuoteCommand, 'at' | 'bids' | 'asks'>): object {
  const [[bp, bs], [ap, as]] = [bids[0] ?? ['0', '0'], asks[0] ?? ['0', '0']]
  return { t: nanosOf(at), bp: Number(bp), bs: Number(bs), ap: Number(ap), as: Number(as) }
}
