/** Items of the market stream as JSON text. Prices, sizes and symbols need no escaping, so they are concatenated. */

import type { Micros, QuoteCommand, QuoteLevel } from '../../engine/types.ts'
import { type RawBar, toBar } from '../../market/bar-series.ts'
import { describedLevels, printVenue } from '../../market/depth.ts'
import type { FeedTrade, Instrument } from '../../market/types.ts'

const LEVELS_MAX = 10

export function tradeItem(instrument: Instrument, trade: FeedTrade): string {
  const { symbol, price, size, at } = trade
  const venue = trade.venue ?? printVenue(instrument, trade)
  return `{"t":"trade","s":"${symbol}","p":"${price}","z":"${size}","x":"${venue}","at":"${at}000","k":"${trade.effect ?? 'all'}"}`
}

export function quoteItem({ symbol, bids, asks, at }: QuoteCommand): string {
  return `{"t":"quote","s":"${symbol}",${side('b', 'bz', bids[0])},${side('a', 'az', asks[0])},"at":"${at}000"}`
}

export function barItem(symbol: string, raw: RawBar, closed: boolean): string {
  const { start, open, high, low, close, volume } = toBar(raw, closed)
  return `{"t":"bar","s":"${symbol}","i":"1m","at":"${start}000","o":"${open}","h":"${high}","l":"${low}","c":"${close}","v":"${volume}","closed":${closed}}`
}

export function depthItem(instrument: Instrument, { bids, asks, at }: QuoteCommand): string {
  const [buyers, sellers] = [levels(instrument, 'bid', bids, at), levels(instrument, 'ask', asks, at)]
  return `{"t":"depth","s":"${instrument.symbol}","bids":[${buyers}],"asks":[${sellers}],"at":"${at}000"}`
}

function levels(instrument: Instrument, side: 'bid' | 'ask', quoted: readonly QuoteLevel[], at: Micros): string {
  let text = ''
  for (const { price, size, orders, venue } of describedLevels(instrument, side, quoted.slice(0, LEVELS_MAX))) {
    text += `${text === '' ? '' : ','}["${price}","${size}","${orders}","${venue}","${at}000"]`
  }
  return text
}

function side(price: string, size: string, best: QuoteLevel | undefined): string {
  return best === undefined ? `"${price}":null,"${size}":null` : `"${price}":"${best[0]}","${size}":"${best[1]}"`
}
