/** Market data as Alpaca writes it: prices and sizes are numbers, one letter a field. */

import type { Bar, FeedTrade, Instrument, Micros, QuoteCommand, QuoteLevel } from '../../frame/brokerage.ts'
import { nanosOf } from '../values.ts'

export const ENDPOINT_KINDS = ['stocks', 'crypto', 'options'] as const
/** The three kinds of endpoints. */
export type Kind = (typeof ENDPOINT_KINDS)[number]

export function kindOf({ kind }: Pick<Instrument, 'kind'>): Kind | null {
  if (kind === 'STK') return 'stocks'
  if (kind === 'CRYPTO') return 'crypto'
  return kind === 'OPT' ? 'options' : null
}

/** Letters of the exchanges. */
const LETTERS: Readonly<Record<string, string>> = { NASDAQ: 'Q', NYSE: 'N', ARCA: 'P', OPRA: 'C' }

export function letterOf(exchange: string): string {
  return exchange.length === 1 ? exchange : (LETTERS[exchange] ?? 'V')
}

export function barWire({ start, open, high, low, close, volume }: Bar): object {
  const t = `${new Date(Math.floor(start / 1000)).toISOString().slice(0, 19)}Z`
  return { t, o: Number(open), h: Number(high), l: Number(low), c: Number(close), v: Number(volume) }
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
}

export function tradeWire(kind: Kind, { at, price, size, id, letter, effect }: Print): object {
  const trade = { t: nanosOf(at), p: Number(price), s: Number(size) }
  if (kind === 'crypto') return { ...trade, i: id }
  if (kind === 'options') return { ...trade, x: letter, c: 'I' }
  // A regular sale; one that only counts for the volume is an average price trade.
  return { ...trade, x: letter, i: id, c: effect === 'volume' ? ['@', 'W'] : ['@'], z: 'C' }
}

/** Nothing is 0. */
export function quoteWire({ at, bids, asks }: Pick<QuoteCommand, 'at' | 'bids' | 'asks'>): object {
  const [[bp, bs], [ap, as]] = [bids[0] ?? ['0', '0'], asks[0] ?? ['0', '0']]
  return { t: nanosOf(at), bp: Number(bp), bs: Number(bs), ap: Number(ap), as: Number(as) }
}

export function levelsWire(levels: readonly QuoteLevel[]): readonly object[] {
  return levels.map(([price, size]) => ({ p: Number(price), s: Number(size) }))
}
