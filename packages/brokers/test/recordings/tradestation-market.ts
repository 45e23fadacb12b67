/** How recorded market data of TradeStation is put through its adapter. */

import { barsOf } from './bars.ts'
import { MarketEvents } from './collect.ts'
import { barFacts, type Facts, faultFacts, quoteFacts, tradeFacts } from './facts.ts'
import type { Json, Step } from './load.ts'
import { expirationsOf } from './reads.ts'
import { pathOf, type Replay, reply } from './replay.ts'
import { signal } from './ticket.ts'

const DAY_MS = 86_400_000
const UNITS: { readonly [unit: string]: string } = { Minute: 'm', Daily: 'd' }

export async function marketFacts(replay: Replay, steps: readonly Step[], path: string): Promise<Facts> {
  const [step] = steps
  if (step === undefined) return {}
  replay.on('GET /v3/marketdata/symbols/*', ({ path: asked }) =>
    reply({ Symbols: [{ Symbol: pathOf(asked).split('/symbols/')[1], AssetType: 'STOCK' }], Errors: [] })
  )
  if (path.includes('/stream/quotes')) return await quotesStream(replay, steps)
  if (path.includes('/barcharts/')) return await barsFacts(replay, step, path)
  if (path.includes('/expirations/')) return await expirationsFacts(replay, step, path)
  if (path.includes('/symbols/')) return await symbolsFacts(replay, step)
  return {}
}

async function barsFacts(replay: Replay, { path: asked, status, body, payload }: Step, path: string): Promise<Facts> {
  const query = new URLSearchParams((asked ?? '').split('?')[1])
  const interval = `${query.get('interval') ?? '1'}${UNITS[query.get('unit') ?? 'Daily'] ?? 'd'}`
  const symbol = named(path.split('/barcharts/')[1] ?? '')
  replay.on('GET /v3/marketdata/barcharts/*', { status: status ?? 200, body })
  const times: readonly number[] = (payload.Bars ?? []).map((row: Json) => Date.parse(row.TimeStamp))
  const window =
    times.length === 0
      ? { fromMs: Date.now() - DAY_MS, toMs: Date.now() }
      : { fromMs: Math.min(...times) - 2 * DAY_MS, toMs: Math.max(...times) + DAY_MS }
  try {
    const bars = await barsOf(replay.market, { symbol, interval, ...window })
    const calendar = (await replay.market.instrument(symbol, signal()))?.calendar
    const facts = bars.map(bar => barFacts(bar, calendar))
    return { bars: facts, first: facts[0], last: facts.at(-1) }
  } catch (error) {
    const asked = replay.seen('GET /v3/marketdata/barcharts/*').length
    return { ...faultFacts(error), bars: null, retry: asked > 1 }
  }
}

async function expirationsFacts(replay: Replay, { status, body }: Step, path: string): Promise<Facts> {
  replay.on('GET /v3/marketdata/options/expirations/*', { status: status ?? 200, body })
  return await expirationsOf(replay.market, named(path.split('/expirations/')[1] ?? ''))
}

/** Continuous contracts are none of ours: each record is looked up by the contract it stands for, among all the others. */
async function symbolsFacts(replay: Replay, { payload }: Step): Promise<Facts> {
  const Symbols = payload.Symbols.map((record: Json) => ({
    ...record,
    Symbol: record.Symbol.startsWith('@') ? record.Underlying : record.Symbol
  }))
  const symbols: Facts[] = []
  for (const [index, { Symbol: broker, AssetType }] of Symbols.entries()) {
    replay.on('GET /v3/marketdata/symbols/*', reply({ Symbols, Errors: [] }))
    const ours = await oursOf(replay, broker, AssetType)
    const found = await replay.market.instrument(ours, signal())
    const asked = pathOf(replay.seen('GET /v3/marketdata/symbols/*').at(-1)?.path ?? '').split('/symbols/')[1]
    symbols.push({
      broker_symbol: payload.Symbols[index].Symbol,
      contract: found === null ? null : asked,
      instrument: found?.instrument ?? null
    })
  }
  return { symbols: symbols.toSorted((a, b) => (String(a.broker_symbol) < String(b.broker_symbol) ? -1 : 1)) }
}

/** Ours for the broker's symbol, as the positions of an account show it. */
async function oursOf(replay: Replay, broker: string, assetType: string): Promise<string> {
  const row = { AccountID: '1', AssetType: assetType, Symbol: broker, Quantity: '1', LongShort: 'Long', PositionID: '1' }
  replay.on('GET /v3/brokerage/accounts/1/positions', reply({ Positions: [row], Errors: [] }))
  const [position] = (await replay.broker.positions('1', signal())).items
  return position?.symbol ?? broker
}

/** Our symbol of an index, if it is asked for by the broker's. */
export async function spelledFacts(replay: Replay, { Symbol: broker, AssetType }: Json): Promise<string> {
  const ours = broker.replace(/^\$|\.X$/g, '')
  replay.on('GET /v3/marketdata/symbols/*', reply({ Symbols: [{ Symbol: broker, AssetType }], Errors: [] }))
  const found = await replay.market.instrument(ours, signal())
  const asked = pathOf(replay.seen('GET /v3/marketdata/symbols/*').at(-1)?.path ?? '').split('/symbols/')[1]
  return asked === broker ? (found?.symbol ?? 'unknown') : `${ours}, asked for as ${asked}`
}

function named(symbol: string): string {
  return symbol.startsWith('{') ? 'MSFT' : symbol
}

/** Lines of a quote stream, all at once after it has opened. */
async function quotesStream(replay: Replay, steps: readonly Step[]): Promise<Facts> {
  const symbols = [...new Set(steps.flatMap(({ payload }) => (typeof payload.Symbol === 'string' ? [payload.Symbol] : [])))]
  replay.on('GET /v3/marketdata/stream/quotes/*', (_call, response) => {
    response.writeHead(200, { 'content-type': 'application/vnd.tradestation.streams.v2+json' })
    for (const { body } of steps) response.write(`${body}\r\n`)
    return null
  })
  using events = new MarketEvents(replay.market, symbols)
  await events.live()
  await events.quiet()
  return { trades: events.trades.map(tradeFacts), quotes: events.quotes.map(quoteFacts) }
}
