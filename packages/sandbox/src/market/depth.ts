/** What a book and a print show beyond price and size: how many orders stand at a level, and at which venue. */
import type { QuoteLevel } from '../engine/types.ts'
import { draw, keyOf } from './synthetic/chance.ts'
import type { Instrument } from './types.ts'

export interface DescribedLevel {
  readonly price: string
  readonly size: string
  /** 1 to 25. */
  readonly orders: number
  readonly venue: string
}

const VENUES = {
  STK: ['XNAS', 'ARCX', 'XNYS', 'BATS', 'EDGX', 'IEXG'],
  OPT: ['XCBO', 'XPHL', 'XISX', 'ARCO', 'BATO'],
  FUT: ['XCME'],
  CRYPTO: ['SNDX', 'SNDY']
} as const

const ORDERS_MAX = 25

/**
 * The levels of one side, described. It is a function of instrument, side, price and size alone, so the same book always shows the same:
 * a draw over these four picks the venue of the kind's list, and a number of orders from 1 to 25, never more than whole lots are shown.
 */
export function describedLevels(instrument: Instrument, side: 'bid' | 'ask', levels: readonly QuoteLevel[]): readonly DescribedLevel[] {
  const venues = VENUES[instrument.kind]
  const lot = Number(instrument.lot)
  const key = keyOf(`${instrument.symbol} ${side}`)
  return levels.map(([price, size]) => {
    const chance = draw(key, keyOf(price), keyOf(size))
    // Rounded, because a crypto pair's lot is no binary fraction; beyond 25 lots it does not matter.
    const most = Math.max(1, Math.min(ORDERS_MAX, Math.round(Number(size) / lot)))
    // Most levels hold few orders: of two draws the smaller one counts.
    const orders = 1 + Math.min(chance % most, (chance >>> 8) % most)
    return { price, size, orders, venue: venueAt(instrument, venues, chance) }
  })
}

/** Where a print happened, by the same rule from its price, size and time. */
export function printVenue(instrument: Instrument, print: { readonly at: number; readonly price: string; readonly size: string }): string {
  const chance = draw(keyOf(instrument.symbol), keyOf(print.price), keyOf(print.size), print.at % 4_294_967_296)
  return venueAt(instrument, VENUES[instrument.kind], chance)
}

// A futures month trades at its own exchange only.
function venueAt(instrument: Instrument, venues: readonly string[], chance: number): string {
  if (instrument.kind === 'FUT') return FUTURES_VENUES[instrument.exchange] ?? instrument.exchange
  return venues[(chance >>> 16) % venues.length] ?? instrument.exchange
}

const FUTURES_VENUES: Readonly<Record<string, string>> = { CME: 'XCME', NYMEX: 'XNYM', COMEX: 'XCEC' }
