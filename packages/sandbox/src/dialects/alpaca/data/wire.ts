/** Market data as Alpaca writes it: prices and sizes are numbers, one letter a field. */

import type { Bar, FeedTrade, Instrument, Micros, QuoteCommand, QuoteLevel } from '../../frame/brokerage.ts'
import { nanosOf, secondsOf } from '../times.ts'

/** The three kinds of endpoints. */
export type Kind = 'stocks' | 'crypto' | 'options'

export function kindOf({ kind }: Pick<Instrument, 'kind'>): Kind | null {
  if (kind === 'STK') return 'stocks'
  if (kind === 'CRYPTO') return 'crypto'
  return kind === 'OPT' ? 'options' : null
}

/** Letters of the exchanges. */
const LETTERS: Readonly<Record<string, string>> = { NASDAQ: 'Q', NYSE: 'N', ARCA: 'P', OPRA: 'C' }
const OTHER = 'V'

export function letterOf(exchange: string): string {
  return exchange.length === 1 ? exchange : (LETTERS[exchange] ?? OTHER)
}

export interface BarWire {
  readonly t: string
  readonly o: number
  readonly h: number
  readonly l: number
  readonly c: number
  readonly v: number
  readonly n: number
  readonly vw: number
}

/** A round lot, which is about what a trade is for. */
const TRADE_SIZE = 100

/** The sandbox keeps neither the number of trades nor their average price: the first is estimated by the volume, the second by the prices. */
export function barWire({ start, open, high, low, close, volume }: Bar): BarWire {
  const [o, h, l, c, v] = [Number(open), Number(high), Number(low), Number(close), Number(volume)]
  return { t: secondsOf(start), o, h, l, c, v, n: Math.max(1, Math.round(v / TRADE_SIZE)), vw: Number(((h + l + c) / 3).toFixed(6)) }
}

export interface Print {
  readonly at: Micros
  readonly price: string
  readonly size: string
  /** Unique in its symbol. */
  readonly id: number
  /** Where it happened. */
  readonly letter: string
  readonly effect: FeedTrade['effect']
  /** Whether the buyer came to the market. */
  readonly isBuy: boolean
}

export function tradeWire(kind: Kind, print: Print): object {
  const [t, p, s] = [nanosOf(print.at), Number(print.price), Number(print.size)]
  if (kind === 'crypto') return { t, p, s, i: print.id, tks: print.isBuy ? 'B' : 'S' }
  if (kind === 'options') return { t, x: print.letter, p, s, c: 'I' }
  return { t, x: print.letter, p, s, i: print.id, c: conditionsOf(print), z: 'C' }
}

/** A regular sale; one that only counts for the volume is an average price trade. */
function conditionsOf({ effect }: Print): readonly string[] {
  return effect === 'volume' ? ['@', 'W'] : ['@']
}

export function quoteWire(kind: Kind, { at, bids, asks }: Pick<QuoteCommand, 'at' | 'bids' | 'asks'>, letter: string): object {
  const [bid, ask] = [bids[0], asks[0]]
  const [bp, bs, ap, as] = [figure(bid, 0), figure(bid, 1), figure(ask, 0), figure(ask, 1)]
  const t = nanosOf(at)
  if (kind === 'crypto') return { t, bp, bs, ap, as }
  return { t, bx: letter, bp, bs, ax: letter, ap, as, ...(kind === 'options' ? { c: 'A' } : { c: ['R'], z: 'C' }) }
}

/** Nothing is 0. */
function figure(level: QuoteLevel | undefined, at: 0 | 1): number {
  return level === undefined ? 0 : Number(level[at])
}

export interface LevelWire {
  readonly p: number
  readonly s: number
}

export function levelsWire(levels: readonly QuoteLevel[]): readonly LevelWire[] {
  return levels.map(([price, size]) => ({ p: Number(price), s: Number(size) }))
}
