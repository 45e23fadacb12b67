/** Prices set through the control API: validated against the instrument's tick, and shown as a quote around one print. */
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Micros, QuoteCommand, TradeCommand } from '../engine/types.ts'
import { billionths, fromBillionths, plain } from './lean/numbers.ts'
import type { Instrument } from './types.ts'

/** Billionths. @throws Malformed unless it is a positive multiple of the instrument's tick at that price */
export function checkedPrice(instrument: Instrument, text: string): bigint {
  const tick = tickAt(instrument, text)
  const price = plain(text) === undefined || text.length > 20 ? 0n : billionths(text)
  if (price <= 0n || price % tick !== 0n) throw new Malformed('price', `a positive multiple of ${fromBillionths(tick)}`, text)
  return price
}

/** One print, and one level of `size` a tick away on either side (no bid if the price is the tick itself). */
export function shownPrice(instrument: Instrument, price: bigint, at: Micros, size: string): readonly [QuoteCommand, TradeCommand] {
  const { symbol } = instrument
  const tick = tickAt(instrument, fromBillionths(price))
  const bids = price > tick ? ([[fromBillionths(price - tick), size]] as const) : []
  return [
    { type: 'quote', at, symbol, bids, asks: [[fromBillionths(price + tick), size]] },
    { type: 'trade', at, symbol, price: fromBillionths(price), size: '1', auction: null }
  ]
}

function tickAt({ tick, tickBelowOne }: Instrument, price: string): bigint {
  return billionths(tickBelowOne !== null && price.startsWith('0.') ? tickBelowOne : tick)
}
