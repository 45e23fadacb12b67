// What of a market can be read once, without a stream.
import type { Bar, ChainEntry, Quote } from '@trunkline/core/domain/market/records'
import { msOfNanos } from '@trunkline/core/domain/market/records'
import { type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { INSTRUMENTS } from '@trunkline/core/domain/vocabulary'
import Type, { type Static } from 'typebox'
import { day, decimal, nullable, oneOf, record, timestamp } from './common.ts'

const symbol = Type.String({ description: 'As the service writes it.', examples: ['SPY'] })
const asOf = { ...timestamp, description: 'The market’s time, by the broker, when this was read.' }

export const marketExpirations = record('MarketExpirations', 'When options of an underlying expire.', {
  symbol,
  expirations: Type.Array(day, { description: 'Ascending; empty where there are no options.' }),
  as_of: asOf
})

export const marketQuote = record('MarketQuote', 'The best bid and ask; null where there is none.', {
  symbol,
  bid_price: nullable(decimal),
  bid_size: nullable(decimal),
  ask_price: nullable(decimal),
  ask_size: nullable(decimal),
  quoted_at: nullable(timestamp, 'When the broker dates the quote; null when it sent none within three seconds.'),
  as_of: asOf
})

export const marketSymbols = record('MarketSymbols', 'Symbols that a search found.', {
  symbols: Type.Array(
    record('MarketSymbol', 'A symbol and what it is.', {
      symbol: Type.String({ description: 'As in orders.', examples: ['AAPL'] }),
      instrument: oneOf(INSTRUMENTS),
      name: nullable(Type.String({ examples: ['Apple Inc'] })),
      exchange: nullable(Type.String({ examples: ['NASDAQ'] }), 'As the broker writes it.')
    })
  )
})

const figure = nullable(decimal)
const contract = record('MarketContract', 'One contract of a chain and its present market; null is what the broker does not provide.', {
  symbol: Type.String({ description: 'OCC symbol, as in orders.', examples: ['SPY261218C00660000'] }),
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
})

export const marketChain = record('MarketChain', 'The options of an underlying that expire on a day.', {
  symbol,
  expiration: day,
  contracts: Type.Array(contract, { description: 'By strike, the call before the put.' }),
  as_of: asOf
})

const bar = record('MarketBar', 'One bar.', {
  start: { ...timestamp, description: 'Its start.' },
  open: decimal,
  high: decimal,
  low: decimal,
  close: decimal,
  volume: decimal,
  closed: Type.Boolean({ description: 'False: it may still change.' })
})

export const marketBars = record('MarketBars', 'Past bars of the session `BrokerDefault`, ascending.', {
  symbol,
  interval: Type.String({ examples: ['1h'] }),
  bars: Type.Array(bar),
  next_start: nullable(timestamp, 'Send it as `start` to read on; null at the end of the window.'),
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
