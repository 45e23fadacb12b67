// Where a symbol stands, by the broker's own market data: its best bid or ask, else the end of its last daily bar.
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { Broker } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { MarketSource, TopicSink } from '@trunkline/core/ports/market'

const QUOTE_MS = 10_000
const CALL_MS = 20_000
const BACK_MS = 10 * 86_400_000

/** @throws Error when the broker has no price at all. */
export async function priceOf({ market, capabilities }: Broker, symbol: string, clock: Clock): Promise<Decimal> {
  if (market === null) throw new Error('this broker has no prices')
  const instrument = await market.instrument(symbol, AbortSignal.timeout(CALL_MS))
  if (instrument === null) throw new Error(`the broker knows no ${symbol}`)
  const quoted = capabilities.marketData.channels.includes('quotes') ? await quote(market, symbol, clock) : null
  const price = quoted ?? (await lastClose(market, symbol))
  if (price === null) throw new Error(`the broker has no price of ${symbol}`)
  return price
}

async function quote(market: MarketSource, symbol: string, clock: Clock): Promise<Decimal | null> {
  const { promise, resolve } = Promise.withResolvers<Decimal | null>()
  const sink: TopicSink = {
    quote: ({ bidPrice, askPrice }) => resolve(bidPrice ?? askPrice),
    refused: () => resolve(null),
    live: () => undefined,
    lost: () => undefined,
    trade: () => undefined,
    depth: () => undefined,
    bar: () => undefined,
    chain: () => undefined
  }
  using _lease = market.stream({ channel: 'quotes', symbol }, sink)
  using _patience = clock.alarm(QUOTE_MS, () => resolve(null))
  return await promise
}

async function lastClose(market: MarketSource, symbol: string): Promise<Decimal | null> {
  const toMs = market.presentMs()
  let last: Decimal | null = null
  const request = { symbol, interval: '1d', fromMs: toMs - BACK_MS, toMs }
  for await (const page of market.bars(request, AbortSignal.timeout(CALL_MS))) last = page.at(-1)?.close ?? last
  return last
}
