/** Details of a book and a print beyond price and size: the number of orders at a level, and the venue. */
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
 * Adds details to the levels of one side. They depend only on instrument, side, price and size, so the same book always shows the same:
 * a draw over these four picks a venue from the kind's list, and 1 to 25 orders, never more than the whole lots shown.
 */
export function describedLevels(instrument: Instrument, side: 'bid' | 'ask', levels: readonly QuoteLevel[]): readonly DescribedLevel[] {
  const venues = VENUES[instrument.kind]
  const lot = Number(instrument.lot)
  const key = keyOf(`${instrument.symbol} ${side}`)
  return levels.map(([price, size]) => {
    const chance = draw(key, keyOf(price), keyOf(size))
    // Rounded, because a crypto pair's lot is not a binary fraction; beyond 25 lots it does not matter.
    const most = Math.max(1, Math.min(ORDERS_MAX, Math.round(Number(size) / lot)))
    // Most levels have few orders: the smaller of two draws counts.
    const orders = 1 + Math.min(chance % most, (chance >>> 8) % most)
    return { price, size, orders, venue: venueAt(instrument, venues, chance) }
  })
}

/** The venue of a print, drawn in the same way from its price, size and time. */
export function printVenue(instrument: Instrument, print: { readonly at: number; readonly price: string; readonly size: string }): string {
  const chance = draw(keyOf(instrument.symbol), keyOf(print.price), keyOf(print.size), print.at % 4_294_967_296)
  return venueAt(instrument, VENUES[instrument.kind], chance)
}

// A futures month trades only at its own exchange.
function venueAt(instrument: Instrument, venues: readonly string[], chance: number): string {
  if (instrument.kind === 'FUT') return FUTURES_VENUES[instrument.exchange] ?? instrument.exchange
  return venues[(chance >>> 16) % venues.length] ?? instrument.exchange
}

const FUTURES_VENUES: Readonly<Record<string, string>> = { CME: 'XCME', NYMEX: 'XNYM', COMEX: 'XCEC' }
