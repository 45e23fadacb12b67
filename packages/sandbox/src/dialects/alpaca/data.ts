/** Market data over REST: bars, trades, quotes and the chains of options. The contracts of a chain are on the trading host. */

import type { Body } from '../frame/body.ts'
import { type Answer, type Bar, type BarInterval, type Instrument, type Micros, paramOf } from '../frame/brokerage.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { badParameter, bodyOf, instantIn, jsonAnswer, notFound } from './answers.ts'
import type { CustomerView } from './customer-view.ts'
import { barsOf, barWire, ENDPOINT_KINDS, type Kind, quoteWire, secondOf, tradeWire } from './market.ts'
import { newYorkOf } from './values.ts'

const CONTRACTS = '/alpaca/api/v2/options/contracts'
const SECOND: Micros = 1_000_000
const KIND_ROUTES: Readonly<Record<Kind, { readonly root: string; readonly latest: string }>> = {
  stocks: { root: '/alpaca/data/v2/stocks', latest: 'quotes/latest' },
  // The two words the other way round.
  crypto: { root: '/alpaca/data/v1beta3/crypto/:loc', latest: 'latest/quotes' },
  options: { root: '/alpaca/data/v1beta1/options', latest: 'quotes/latest' }
}
/** In lower case: Alpaca takes them in capitals or not. */
const INTERVALS: Readonly<Record<string, BarInterval>> = {
  ...{ '1min': '1m', '5min': '5m', '15min': '15m', '30min': '30m', '1hour': '1h', '1h': '1h', '1day': '1d' }
}

/** Those of the market data host. */
export function dataRoutes(view: CustomerView): readonly DialectRoute[] {
  const get = { method: 'GET' } as const
  const kinds: readonly Kind[] = ['stocks', 'crypto', 'options']
  const ofKind = kinds.flatMap((kind): readonly DialectRoute[] => {
    const { root, latest } = KIND_ROUTES[kind]
    return [
      { ...get, operation: 'bars.list', path: `${root}/bars`, handle: call => bars(view, kind, call) },
      { ...get, operation: 'bars.list', path: `${root}/trades`, handle: call => trades(view, kind, call) },
      { ...get, operation: 'quotes.list', path: `${root}/${latest}`, handle: call => quotes(view, kind, call) }
    ]
  })
  const snapshots = `${KIND_ROUTES.options.root}/snapshots/:underlying`
  return [...ofKind, { ...get, path: snapshots, operation: 'chain.list', handle: call => chain(view, call) }]
}

/** Those of the trading host. */
export function contractRoutes(view: CustomerView): readonly DialectRoute[] {
  return [
    { method: 'GET', path: CONTRACTS, operation: 'expirations.list', handle: call => contracts(view, call) },
    { method: 'GET', path: `${CONTRACTS}/:symbol`, operation: 'instruments.get', handle: call => contract(view, call) }
  ]
}

/** The instrument, where it is of this kind. */
export function findOf(view: CustomerView, kind: Kind, symbol: string): Instrument | null {
  const found = view.instrument(symbol)
  return found?.kind === ENDPOINT_KINDS[kind] ? found : null
}

function bars(view: CustomerView, kind: Kind, call: Call): Promise<Answer> {
  const timeframe = bodyOf(call.request.query).textOr('timeframe') ?? ''
  const interval = INTERVALS[timeframe.toLowerCase()]
  if (interval === undefined) throw badParameter(`invalid timeframe: ${timeframe.slice(0, 20)}`)
  return series(view, call, { kind, interval, key: 'bars', show: barWire })
}

/** All trades of a second are reported as one. */
function trades(view: CustomerView, kind: Kind, call: Call): Promise<Answer> {
  const show = ({ start, close, volume }: Bar) => tradeWire(kind, start / SECOND, { at: start, price: close, size: volume })
  return series(view, call, { kind, interval: '1s', key: 'trades', show })
}

interface Series {
  readonly kind: Kind
  readonly interval: BarInterval
  readonly key: string
  readonly show: (bar: Bar) => object
}

/** Lists by symbol. For a symbol it does not know, Alpaca answers an empty result. */
async function series(view: CustomerView, { request }: Call, { kind, interval, key, show }: Series): Promise<Answer> {
  const body = bodyOf(request.query)
  const now = view.brokerage.clock.now()
  const start = instantIn(body, 'start') ?? newYorkOf(now).startOfDay().epochMilliseconds * 1000
  const to = Math.min(instantIn(body, 'end') ?? now, now)
  async function* fetch(symbol: string, from: Micros | null): AsyncGenerator<Item<Bar>> {
    const found = findOf(view, kind, symbol)
    if (found === null) return
    for await (const value of barsOf(view.brokerage, found, { interval, from: from ?? start, to })) yield { symbol, at: value.start, value }
  }
  const { items, next_page_token } = await pageOf(symbolsIn(body), { body, limit: 1_000, most: 10_000, fetch })
  const bySymbol = Object.entries(Object.groupBy(items, ({ symbol }) => symbol))
  const shown = bySymbol.map(([symbol, found = []]) => [symbol, found.map(({ value }) => show(value))])
  return jsonAnswer({ [key]: Object.fromEntries(shown), next_page_token })
}

interface Item<Value> {
  readonly symbol: string
  readonly at: Micros
  readonly value: Value
}

interface PageOptions<Value> {
  readonly body: Body
  /** Items on a page, unless the request names another number, and at most. */
  readonly limit: number
  readonly most: number
  /** The items of a symbol, ascending; `from`: where to begin if not at their beginning. */
  readonly fetch: (symbol: string, from: Micros | null) => AsyncIterable<Item<Value>> | Iterable<Item<Value>>
}

/** By symbol, then by time, so many items in all. The token names the item that the next page begins with. @throws AlpacaProblem */
async function pageOf<Value>(symbols: readonly string[], { body, limit, most, fetch }: PageOptions<Value>) {
  const [size, token] = [body.countOr('limit', 1, most) ?? limit, body.textOr('page_token')]
  const [first, at = ''] = token === null ? [] : Buffer.from(token, 'base64url').toString().split('|')
  if (token !== null && !/^-?\d{1,17}$/.test(at)) throw badParameter('invalid page_token')
  const items: Item<Value>[] = []
  for (const symbol of symbols.toSorted()) {
    if (first !== undefined && symbol < first) continue
    for await (const item of fetch(symbol, symbol === first ? Number(at) : null)) {
      if (items.length === size) return { items, next_page_token: Buffer.from(`${symbol}|${item.at}`).toString('base64url') }
      items.push(item)
    }
  }
  return { items, next_page_token: null }
}

function symbolsIn(body: Body): readonly string[] {
  const symbols = [...new Set(body.listOr('symbols'))]
  if (symbols.length === 0) throw badParameter('symbols is required')
  return symbols
}

/** By symbol; those of which nothing is known are left out. */
async function quotes(view: CustomerView, kind: Kind, { request }: Call): Promise<Answer> {
  const known = symbolsIn(bodyOf(request.query)).flatMap(asked => findOf(view, kind, asked)?.symbol ?? [])
  await view.brokerage.contracts.bring(known)
  // What is undefined is no field.
  return jsonAnswer({ quotes: Object.fromEntries(known.map(symbol => [symbol, quoteOf(view, symbol)])) })
}

function quoteOf({ brokerage }: CustomerView, symbol: string): object | undefined {
  const quote = brokerage.driver.lastQuote(symbol)
  return quote === undefined ? undefined : quoteWire(quote)
}

async function chain(view: CustomerView, { request }: Call): Promise<Answer> {
  const body = bodyOf(request.query)
  const all = contractsOf(view, [paramOf(request, 'underlying')], wantedIn(body))
  const { items, next_page_token } = await contractPage(all, { body, limit: 100, most: 1_000 })
  await view.brokerage.contracts.bring(items.map(({ symbol }) => symbol))
  return jsonAnswer({ snapshots: Object.fromEntries(items.map(({ symbol }) => [symbol, snapshot(view, symbol)])), next_page_token })
}

/** A contract's market, its day and the model's figures; what is not known is left out. */
function snapshot(view: CustomerView, symbol: string): object {
  const now = view.brokerage.clock.now()
  const figures = view.brokerage.market.figures(symbol, now)
  const numbers = (named: Readonly<Record<string, string | null | undefined>>) => {
    const known = Object.entries(named).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, Number(value)] as const]
    )
    return known.length === 0 ? undefined : Object.fromEntries(known)
  }
  const { open, high, low, last, volume, previousClose, iv, delta, gamma, theta, vega, rho } = figures ?? {}
  const today = numbers({ o: open, h: high, l: low, v: volume })
  return {
    latestTrade: numbers({ p: last }),
    latestQuote: quoteOf(view, symbol),
    dailyBar:
      open === null || today === undefined ? undefined : { t: secondOf(newYorkOf(now).startOfDay().epochMilliseconds * 1000), ...today },
    prevDailyBar: numbers({ c: previousClose }),
    ...(iv === null ? {} : { impliedVolatility: numbers({ iv })?.iv, greeks: numbers({ delta, gamma, theta, vega, rho }) })
  }
}

async function contracts(view: CustomerView, { request }: Call): Promise<Answer> {
  const body = bodyOf(request.query)
  const wanted = wantedIn(body)
  // Anyone who names no expiration sees what expires by the end of the week only.
  const by = wanted.by ?? (wanted.date === null ? saturday(view) : null)
  const all = contractsOf(view, body.listOr('underlying_symbols') ?? [], { ...wanted, by })
  const { items, next_page_token } = await contractPage(all, { body, limit: 100, most: 10_000 })
  return jsonAnswer({ option_contracts: items.map(({ value }) => contractWire(value)), next_page_token })
}

function contract(view: CustomerView, { request }: Call): Answer {
  const symbol = paramOf(request, 'symbol')
  const found = findOf(view, 'options', symbol)
  if (found === null) throw notFound('option contract', symbol)
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

function contractsOf({ brokerage }: CustomerView, underlyings: readonly string[], { type, date, from, by }: ReturnType<typeof wantedIn>) {
  const { market, clock } = brokerage
  const now = clock.now()
  const isWanted = (day: string) => (date === null || day === date) && (from === null || day >= from) && (by === null || day <= by)
  return underlyings
    .flatMap(underlying => {
      const days = market.expirations(underlying, now).filter(isWanted)
      return days.flatMap(day => market.chain(underlying, day, now))
    })
    .filter(({ option }) => option !== undefined && (type === null || option.right === type))
}

function saturday({ brokerage }: CustomerView): string {
  const today = newYorkOf(brokerage.clock.now()).toPlainDate()
  return today.add({ days: ((12 - today.dayOfWeek) % 7) + 1 }).toString()
}

function contractPage(all: readonly Instrument[], options: Omit<PageOptions<Instrument>, 'fetch'>) {
  const bySymbol = Map.groupBy(all, ({ symbol }) => symbol)
  const fetch = (symbol: string) => (bySymbol.get(symbol) ?? []).map(value => ({ symbol, at: 0, value }))
  return pageOf([...bySymbol.keys()], { ...options, fetch })
}

function contractWire({ symbol, option }: Instrument): object {
  return { symbol, type: option?.right, strike_price: option?.strike, expiration_date: option?.expiration }
}
