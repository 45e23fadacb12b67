/** Market data over REST, but for the chains of options. */

import type { FastifyRequest } from 'fastify'
import { paramOf } from '../../../brokerage/api/orders.ts'
import type { Answer } from '../../../brokerage/api/response-writer.ts'
import type { Call, DialectRoute } from '../../frame/router.ts'
import { Body } from '../body.ts'
import { badParameter, jsonAnswer } from '../problems.ts'
import { latestRoutes } from './latest.ts'
import { type Listing, pageOf, pageQuery, symbolsIn } from './pages.ts'
import type { DataSource } from './source.ts'
import { type Timeframe, timeframeOf } from './timeframes.ts'
import { barWire, type Kind, tradeWire } from './wire.ts'

export const ROOTS: Readonly<Record<Kind, string>> = {
  stocks: '/alpaca/data/v2/stocks',
  crypto: '/alpaca/data/v1beta3/crypto/:loc',
  options: '/alpaca/data/v1beta1/options'
}

const SECONDS: Timeframe = { base: '1s', startOf: null }

export function dataRoutes(source: DataSource): readonly DialectRoute[] {
  const about = (request: FastifyRequest) => ({ symbol: paramOf(request, 'symbol') || null, clientOrderId: null })
  const common = { method: 'GET', operation: 'bars.list', about } as const
  const histories = (['stocks', 'crypto', 'options'] as const).flatMap((kind): readonly DialectRoute[] => [
    { ...common, path: `${ROOTS[kind]}/bars`, handle: call => bars(source, kind, call) },
    { ...common, path: `${ROOTS[kind]}/trades`, handle: call => trades(source, kind, call) }
  ])
  const singles: readonly DialectRoute[] = [
    { ...common, path: `${ROOTS.stocks}/:symbol/bars`, handle: call => bars(source, 'stocks', call) },
    { ...common, path: `${ROOTS.stocks}/:symbol/trades`, handle: call => trades(source, 'stocks', call) }
  ]
  return [...histories, ...singles, ...latestRoutes(source, ROOTS)]
}

async function bars(source: DataSource, kind: Kind, { request, fault }: Call): Promise<Answer> {
  const body = new Body(request.query)
  const timeframe = timeframeOf(body.text('timeframe') ?? fail('timeframe is required'))
  const listing = await pageOf({
    symbols: symbolsOf(request, body),
    query: pageQuery(body, source.now()),
    fault,
    fetch: (symbol, stretch) => source.bars(source.find(symbol, kind)?.symbol ?? '', timeframe, stretch),
    atOf: bar => bar.start
  })
  return answer('bars', request, mapped(listing, barWire))
}

async function trades(source: DataSource, kind: Kind, { request, fault }: Call): Promise<Answer> {
  const body = new Body(request.query)
  const listing = await pageOf({
    symbols: symbolsOf(request, body),
    query: pageQuery(body, source.now()),
    fault,
    fetch: (symbol, stretch) => source.bars(source.find(symbol, kind)?.symbol ?? '', SECONDS, stretch),
    atOf: bar => bar.start
  })
  return answer(
    'trades',
    request,
    mapped(listing, (bar, symbol) => tradeWire(kind, source.printOf(symbol, bar)))
  )
}

/** The one of the path, or those of the query. */
function symbolsOf(request: FastifyRequest, body: Body): readonly string[] {
  const symbol = paramOf(request, 'symbol')
  return symbol === '' ? symbolsIn(body) : [symbol]
}

function mapped<Item, Shown>({ items, next }: Listing<Item>, show: (item: Item, symbol: string) => Shown): Listing<Shown> {
  const shown = Object.entries(items).map(([symbol, list]) => [symbol, list.map(item => show(item, symbol))] as const)
  return { items: Object.fromEntries(shown), next }
}

function answer(name: string, request: FastifyRequest, { items, next }: Listing<object>): Answer {
  const symbol = paramOf(request, 'symbol')
  if (symbol === '') return jsonAnswer({ [name]: items, next_page_token: next })
  return jsonAnswer({ symbol, [name]: items[symbol] ?? null, next_page_token: next })
}

function fail(message: string): never {
  throw badParameter(message)
}
