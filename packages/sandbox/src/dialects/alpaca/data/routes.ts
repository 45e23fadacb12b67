/** Market data over REST: bars, trades, quotes and the chains of options. The contracts of a chain are on the trading host. */

import type { Body } from '../../frame/body.ts'
import { type Answer, type BarInterval, type Instrument, type Micros, type OptionFigures, paramOf } from '../../frame/brokerage.ts'
import type { Call, DialectRoute } from '../../frame/router.ts'
import { badParameter, bodyOf, jsonAnswer, notFound } from '../answers.ts'
import { instantOf, newYorkOf } from '../values.ts'
import { type Item, pageOf } from './pages.ts'
import type { DataSource } from './source.ts'
import { barWire, ENDPOINT_KINDS, type Kind, quoteWire, tradeWire } from './wire.ts'

const CONTRACTS = '/alpaca/api/v2/options/contracts'
const ROOTS: Readonly<Record<Kind, string>> = {
  stocks: '/alpaca/data/v2/stocks',
  crypto: '/alpaca/data/v1beta3/crypto/:loc',
  options: '/alpaca/data/v1beta1/options'
}
/** Crypto puts the two words the other way round. */
const LATEST: Readonly<Record<Kind, string>> = { stocks: 'quotes/latest', crypto: 'latest/quotes', options: 'quotes/latest' }
const BARS_LIMIT = { most: 10_000, fallback: 1_000 }
const CONTRACTS_LIMIT = { most: 10_000, fallback: 100 }
const SNAPSHOTS_LIMIT = { most: 1_000, fallback: 100 }
/** In lower case: Alpaca takes them in capitals or not. */
const INTERVALS = { '1min': '1m', '5min': '5m', '15min': '15m', '30min': '30m', '1hour': '1h', '1h': '1h', '1day': '1d' } as const

/** Those of the market data host. */
export function dataRoutes(source: DataSource): readonly DialectRoute[] {
  const ofKind = ENDPOINT_KINDS.flatMap((kind): readonly DialectRoute[] => [
    { method: 'GET', operation: 'bars.list', path: `${ROOTS[kind]}/bars`, handle: call => bars(source, kind, call) },
    { method: 'GET', operation: 'bars.list', path: `${ROOTS[kind]}/trades`, handle: call => trades(source, kind, call) },
    { method: 'GET', operation: 'quotes.list', path: `${ROOTS[kind]}/${LATEST[kind]}`, handle: call => quotes(source, kind, call) }
  ])
  const snapshots = `${ROOTS.options}/snapshots/:underlying`
  return [...ofKind, { method: 'GET', path: snapshots, operation: 'chain.list', handle: call => chain(source, call) }]
}

/** Those of the trading host. */
export function contractRoutes(source: DataSource): readonly DialectRoute[] {
  return [
    { method: 'GET', path: CONTRACTS, operation: 'expirations.list', handle: call => contracts(source, call) },
    { method: 'GET', path: `${CONTRACTS}/:symbol`, operation: 'instruments.get', handle: call => contract(source, call) }
  ]
}

function bars(source: DataSource, kind: Kind, call: Call): Promise<Answer> {
  const timeframe = (bodyOf(call.request.query).textOr('timeframe') ?? '').toLowerCase()
  const [, interval] = Object.entries(INTERVALS).find(([name]) => name === timeframe) ?? []
  if (interval === undefined) throw badParameter(`invalid timeframe: ${timeframe.slice(0, 20)}`)
  return series(source, { kind, interval, call, key: 'bars', show: ({ value }) => barWire(value) })
}

function trades(source: DataSource, kind: Kind, call: Call): Promise<Answer> {
  const show = ({ symbol, value }: BarItem) => tradeWire(kind, source.printOf(symbol, value))
  return series(source, { kind, interval: '1s', call, key: 'trades', show })
}

type BarItem = Item<Parameters<typeof barWire>[0]>

interface Series {
  readonly kind: Kind
  readonly interval: BarInterval
  readonly call: Call
  readonly key: string
  readonly show: (item: BarItem) => object
}

/** Lists by symbol. For a symbol it does not know, Alpaca answers an empty result. */
async function series(source: DataSource, { kind, interval, call: { request }, key, show }: Series): Promise<Answer> {
  const body = bodyOf(request.query)
  const now = source.now()
  const [start, end] = [
    body.readOr('start', 'must be an instant', instantOf) ?? newYorkOf(now).startOfDay().epochMilliseconds * 1000,
    body.readOr('end', 'must be an instant', instantOf) ?? now
  ]
  async function* fetch(symbol: string, from: Micros | null): AsyncGenerator<BarItem> {
    const found = source.find(symbol, kind)
    if (found === null) return
    for await (const bar of source.bars(found, interval, { from: from ?? start, to: Math.min(end, now) }))
      yield { symbol, at: bar.start, value: bar }
  }
  const { items, next_page_token } = await pageOf(symbolsIn(body), { body, limit: BARS_LIMIT, fetch })
  const bySymbol = Object.entries(Object.groupBy(items, ({ symbol }) => symbol))
  return jsonAnswer({ [key]: Object.fromEntries(bySymbol.map(([symbol, found = []]) => [symbol, found.map(show)])), next_page_token })
}

function symbolsIn(body: Body): readonly string[] {
  const symbols = [...new Set(body.listOr('symbols'))]
  if (symbols.length === 0) throw badParameter('symbols is required')
  return symbols
}

/** By symbol; those of which nothing is known are left out. */
async function quotes(source: DataSource, kind: Kind, { request }: Call): Promise<Answer> {
  const known = symbolsIn(bodyOf(request.query)).flatMap(asked => source.find(asked, kind)?.symbol ?? [])
  await source.brokerage.contracts.bring(known)
  const found = known.map(symbol => [symbol, quoteOf(source, symbol)] as const)
  return jsonAnswer({ quotes: Object.fromEntries(found.filter(([, quote]) => quote !== undefined)) })
}

function quoteOf(source: DataSource, symbol: string): object | undefined {
  const quote = source.quote(symbol)
  return quote === undefined ? undefined : quoteWire(quote)
}

/** What is not known is left out. */
async function chain(source: DataSource, { request }: Call): Promise<Answer> {
  const body = bodyOf(request.query)
  const all = contractsOf(source, paramOf(request, 'underlying'), wantedIn(body))
  const { items, next_page_token } = await instrumentPage(all, { body, limit: SNAPSHOTS_LIMIT })
  await source.brokerage.contracts.bring(items.map(({ symbol }) => symbol))
  const snapshots: Record<string, object> = {}
  for (const { symbol } of items) {
    const [today, before] = (await source.lastDays(symbol)).map(barWire)
    const print = await source.print(symbol)
    snapshots[symbol] = {
      latestTrade: print === null ? undefined : tradeWire('options', print),
      latestQuote: quoteOf(source, symbol),
      dailyBar: today,
      prevDailyBar: before,
      ...modelOf(source.brokerage.market.figures(symbol, source.now()))
    }
  }
  return jsonAnswer({ snapshots, next_page_token })
}

/** The model's figures; nothing for a contract it cannot value. */
function modelOf(figures: OptionFigures | null): object {
  if (figures === null || figures.iv === null) return {}
  const { iv, delta, gamma, theta, vega, rho } = figures
  const greeks = Object.entries({ delta, gamma, theta, vega, rho }).filter(([, value]) => value !== null)
  return { impliedVolatility: Number(iv), greeks: Object.fromEntries(greeks.map(([name, value]) => [name, Number(value)])) }
}

async function contracts(source: DataSource, { request }: Call): Promise<Answer> {
  const body = bodyOf(request.query)
  const wanted = wantedIn(body)
  // Anyone who names no expiration sees what expires by the end of the week only.
  const by = wanted.by ?? (wanted.date === null ? saturday(source) : null)
  const all = (body.listOr('underlying_symbols') ?? []).flatMap(underlying => contractsOf(source, underlying, { ...wanted, by }))
  const { items, next_page_token } = await instrumentPage(all, { body, limit: CONTRACTS_LIMIT })
  return jsonAnswer({ option_contracts: items.map(({ value }) => contractWire(value)), next_page_token })
}

function contract(source: DataSource, { request }: Call): Answer {
  const symbol = paramOf(request, 'symbol')
  const found = source.find(symbol, 'options')
  if (found === null) throw notFound(`option contract not found for ${symbol.slice(0, 40)}`)
  return jsonAnswer(contractWire(found))
}

function wantedIn(body: Body) {
  return {
    type: body.memberOr('type', ['call', 'put']),
    date: body.textOr('expiration_date'),
    from: body.textOr('expiration_date_gte'),
    by: body.textOr('expiration_date_lte')
  }
}

function contractsOf(source: DataSource, underlying: string, { type, date, from, by }: ReturnType<typeof wantedIn>): readonly Instrument[] {
  const { market } = source.brokerage
  const now = source.now()
  return market
    .expirations(underlying, now)
    .filter(day => (date === null || day === date) && (from === null || day >= from) && (by === null || day <= by))
    .flatMap(day => market.chain(underlying, day, now))
    .filter(({ option }) => option !== undefined && (type === null || option.right === type))
}

function saturday(source: DataSource): string {
  const today = newYorkOf(source.now()).toPlainDate()
  return today.add({ days: ((12 - today.dayOfWeek) % 7) + 1 }).toString()
}

function instrumentPage(all: readonly Instrument[], options: Omit<Parameters<typeof pageOf>[1], 'fetch'>) {
  const bySymbol = new Map(all.map(instrument => [instrument.symbol, instrument]))
  const fetch = (symbol: string) => [bySymbol.get(symbol) ?? []].flat().map(value => ({ symbol, at: 0, value }))
  return pageOf([...bySymbol.keys()], { ...options, fetch })
}

function contractWire({ symbol, option }: Instrument): object {
  return { symbol, type: option?.right, strike_price: option?.strike, expiration_date: option?.expiration }
}
