/** Market data over REST, but for the chains of options. */

import type { Answer, BarInterval } from '../../frame/brokerage.ts'
import type { Call, DialectRoute } from '../../frame/router.ts'
import { Body } from '../body.ts'
import { badParameter, jsonAnswer } from '../problems.ts'
import { quotesOf } from './latest.ts'
import { type Listing, pageOf, pageQuery, symbolsIn } from './pages.ts'
import type { DataSource } from './source.ts'
import { intervalOf } from './timeframes.ts'
import { barWire, type Kind, tradeWire } from './wire.ts'

const ROOTS: Readonly<Record<Kind, string>> = {
  stocks: '/alpaca/data/v2/stocks',
  crypto: '/alpaca/data/v1beta3/crypto/:loc',
  options: '/alpaca/data/v1beta1/options'
}
/** Crypto puts the two words the other way round. */
const LATEST: Readonly<Record<Kind, string>> = { stocks: 'quotes/latest', crypto: 'latest/quotes', options: 'quotes/latest' }
const ENDPOINT_KINDS = ['stocks', 'crypto', 'options'] as const

export function dataRoutes(source: DataSource): readonly DialectRoute[] {
  const bars = { method: 'GET', operation: 'bars.list' } as const
  return ENDPOINT_KINDS.flatMap((kind): readonly DialectRoute[] => [
    { ...bars, path: `${ROOTS[kind]}/bars`, handle: call => barsOf(source, kind, call) },
    { ...bars, path: `${ROOTS[kind]}/trades`, handle: call => tradesOf(source, kind, call) },
    { method: 'GET', operation: 'quotes.list', path: `${ROOTS[kind]}/${LATEST[kind]}`, handle: call => quotesOf(source, kind, call) }
  ])
}

async function barsOf(source: DataSource, kind: Kind, call: Call): Promise<Answer> {
  const timeframe = new Body(call.request.query).text('timeframe')
  if (timeframe === null) throw badParameter('timeframe is required')
  const { items, next } = await listed(source, kind, intervalOf(timeframe), call)
  return jsonAnswer({ bars: mapped(items, bar => barWire(bar)), next_page_token: next })
}

async function tradesOf(source: DataSource, kind: Kind, call: Call): Promise<Answer> {
  const { items, next } = await listed(source, kind, '1s', call)
  return jsonAnswer({ trades: mapped(items, (bar, symbol) => tradeWire(kind, source.printOf(symbol, bar))), next_page_token: next })
}

type Bars = Awaited<ReturnType<typeof listed>>['items']

async function listed(source: DataSource, kind: Kind, interval: BarInterval, { request, fault }: Call) {
  const body = new Body(request.query)
  return await pageOf({
    symbols: symbolsIn(body),
    query: pageQuery(body, source.now()),
    fault,
    fetch: (symbol, stretch) => source.bars(source.find(symbol, kind)?.symbol ?? '', interval, stretch),
    atOf: bar => bar.start
  })
}

function mapped(items: Bars, show: (bar: Bars[string][number], symbol: string) => object): Listing<object>['items'] {
  return Object.fromEntries(Object.entries(items).map(([symbol, bars]) => [symbol, bars.map(bar => show(bar, symbol))]))
}
