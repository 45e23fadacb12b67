// The records of the market data endpoints.
import type { Bar, ChainEntry, Quote } from '@trunkline/core/domain/market/records'
import { msOfNanos } from '@trunkline/core/domain/market/records'
import { type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { INSTRUMENTS } from '@trunkline/core/domain/vocabulary'
import Type, { type Static } from 'typebox'
import { day, decimal, nullable, oneOf, record, timestamp } from './common.ts'

const symbol = Type.String({ description: 'The symbol in the service’s format.', examples: ['SPY'] })
const asOf = { ...timestamp, description: 'The broker’s market time when this was read.' }

export const marketExpirations = record('MarketExpirations', 'The expiration dates of the options on an underlying.', {
  symbol,
  expirations: Type.Array(day, { description: 'Ascending; empty if there are no options.' }),
  as_of: asOf
})

export const marketQuote = record('MarketQuote', 'The best bid and ask; null if there is none.', {
  symbol,
  bid_price: nullable(decimal),
  bid_size: nullable(decimal),
  ask_price: nullable(decimal),
  ask_size: nullable(decimal),
  quoted_at: nullable(timestamp, 'The broker’s time of the quote; null if it sent no quote within three seconds.'),
  as_of: asOf
})

export const marketSymbols = record('MarketSymbols', 'The symbols that match a search.', {
  symbols: Type.Array(
    record('MarketSymbol', 'A symbol and its instrument.', {
      symbol: Type.String({ description: 'The symbol, written as in orders.', examples: ['AAPL'] }),
      instrument: oneOf(INSTRUMENTS),
      name: nullable(Type.String({ examples: ['Apple Inc'] })),
      exchange: nullable(Type.String({ examples: ['NASDAQ'] }), 'The exchange as the broker names it.')
    })
  )
})

const figure = nullable(decimal)
const contract = record(
  'MarketContract',
  'One contract of an options chain and its current market. Null if the broker does not provide the value.',
  {
    symbol: Type.String({ description: 'The OCC symbol, written as in orders.', examples: ['SPY261218C00660000'] }),
    option_type: oneOf(['Call', 'Put']),
    strike_price: decimal,
    bid: figure,
    bid_size: figure,
    ask: figure,
    ask_size: figure,
    mid: figure,
    last: figure,
    open: figure,
    high: figure,
    low: figure,
    close: figure,
    previous_close: figure,
    net_change: figure,
    net_change_pct: figure,
    volume: figure,
    delta: figure,
    gamma: figure,
    theta: figure,
    rho: figure,
    vega: figure,
    iv: figure
  }
)

export const marketChain = record('MarketChain', 'The options on an underlying with one expiration date.', {
  symbol,
  expiration: day,
  contracts: Type.Array(contract, { description: 'Sorted by strike, the call before the put.' }),
  as_of: asOf
})

const bar = record('MarketBar', 'One bar.', {
  start: { ...timestamp, description: 'The start of the bar.' },
  open: decimal,
  high: decimal,
  low: decimal,
  close: decimal,
  volume: decimal,
  closed: Type.Boolean({ description: 'False if the bar may still change.' })
})

export const marketBars = record('MarketBars', 'Past bars of the session `BrokerDefault`, ascending.', {
  symbol,
  interval: Type.String({ examples: ['1h'] }),
  bars: Type.Array(bar),
  next_start: nullable(timestamp, 'Send it as `start` to read the next page; null at the end of the window.'),
  as_of: asOf
})

export function presentQuote(requested: string, quote: Quote | null, present: Timestamp): Static<typeof marketQuote> {
  return {
    symbol: requested,
    bid_price: quote?.bidPrice ?? null,
    bid_size: quote?.bidSize ?? null,
    ask_price: quote?.askPrice ?? null,
    ask_size: quote?.askSize ?? null,
    quoted_at: quote === null ? null : timestampOfMs(msOfNanos(quote.at)),
    as_of: present
  }
}

export function presentContract(entry: ChainEntry): Static<typeof contract> {
  const { symbol, right, strike, greeks, bidSize, askSize, previousClose, netChange, netChangePct } = entry
  const { bid, ask, mid, last, open, high, low, close, volume } = entry
  return {
    symbol,
    option_type: right === 'C' ? 'Call' : 'Put',
    strike_price: strike,
    bid,
    bid_size: bidSize,
    ask,
    ask_size: askSize,
    mid,
    last,
    open,
    high,
    low,
    close,
    previous_close: previousClose,
    net_change: netChange,
    net_change_pct: netChangePct,
    volume,
    delta: greeks?.delta ?? null,
    gamma: greeks?.gamma ?? null,
    theta: greeks?.theta ?? null,
    rho: greeks?.rho ?? null,
    vega: greeks?.vega ?? null,
    iv: greeks?.iv ?? null
  }
}

export function presentBar({ startMs, open, high, low, close, volume, closed }: Bar): Static<typeof bar> {
  return { start: timestampOfMs(startMs), open, high, low, close, volume, closed }
}
