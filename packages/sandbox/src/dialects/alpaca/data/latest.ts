/** The latest of everything: quotes, trades, bars, crypto order books, and snapshots of all of them. */

import type { FastifyRequest } from 'fastify'
import { paramOf } from '../../../brokerage/api/orders.ts'
import type { Answer } from '../../../brokerage/api/response-writer.ts'
import type { Call, DialectRoute } from '../../frame/router.ts'
import { Body } from '../body.ts'
import { jsonAnswer } from '../problems.ts'
import { nanosOf } from '../times.ts'
import { symbolsIn } from './pages.ts'
import type { DataSource } from './source.ts'
import { barWire, type Kind, levelsWire, quoteWire, tradeWire } from './wire.ts'

const DAY = 86_400_000_000
/** How far back the last minute and the last days are looked for: over a long weekend. */
const BACK = 7 * DAY

type Read = (source: DataSource, kind: Kind, symbol: string) => Promise<object | null>

/** By the name in the path: the one of an answer for a single symbol, and how it is read. */
const READS: Readonly<Record<string, { readonly one: string; readonly read: Read }>> = {
  quotes: { one: 'quote', read: async (source, kind, symbol) => quoteOf(source, kind, symbol) },
  trades: { one: 'trade', read: tradeOf },
  bars: { one: 'bar', read: async (source, _kind, symbol) => barOf(source, symbol) }
}

export function latestRoutes(source: DataSource, roots: Readonly<Record<Kind, string>>): readonly DialectRoute[] {
  const about = (request: FastifyRequest) => ({ symbol: paramOf(request, 'symbol') || null, clientOrderId: null })
  const route = (path: string, handle: DialectRoute['handle']): DialectRoute => ({
    method: 'GET',
    path,
    operation: 'quotes.list',
    about,
    handle
  })
  const { stocks, crypto, options } = roots
  return [
    ...Object.entries(READS).flatMap(([name, { one, read }]) => [
      route(`${stocks}/${name}/latest`, call => many(source, 'stocks', { name, read, call })),
      route(`${stocks}/:symbol/${name}/latest`, call => single(source, { one, read, call })),
      route(`${crypto}/latest/${name}`, call => many(source, 'crypto', { name, read, call }))
    ]),
    ...['quotes', 'trades'].map(name =>
      route(`${options}/${name}/latest`, call => many(source, 'options', { name, read: READS[name]?.read ?? tradeOf, call }))
    ),
    route(`${crypto}/latest/orderbooks`, call => many(source, 'crypto', { name: 'orderbooks', read: bookOf, call })),
    route(`${crypto}/snapshots`, call => many(source, 'crypto', { name: 'snapshots', read: snapshotOf, call })),
    route(`${stocks}/snapshots`, async call => {
      const shown = await read(source, 'stocks', { read: snapshotOf, call })
      return jsonAnswer(shown)
    }),
    route(`${stocks}/:symbol/snapshot`, async ({ request }) => {
      const symbol = paramOf(request, 'symbol')
      return jsonAnswer({ symbol, ...(await snapshotOf(source, 'stocks', symbol)) })
    })
  ]
}

interface Many {
  readonly name: string
  readonly read: Read
  readonly call: Call
}

async function many(source: DataSource, kind: Kind, { name, read: one, call }: Many): Promise<Answer> {
  return jsonAnswer({ [name]: await read(source, kind, { read: one, call }) })
}

/** By symbol; those of which nothing is known are left out. */
async function read(
  source: DataSource,
  kind: Kind,
  { read: one, call: { request, fault } }: Omit<Many, 'name'>
): Promise<Readonly<Record<string, object>>> {
  if (fault?.do === 'empty') return {}
  const symbols = symbolsIn(new Body(request.query))
  const known = symbols.filter(symbol => source.find(symbol, kind) !== null)
  await source.bring(known)
  const shown: Record<string, object> = {}
  for (const symbol of known) {
    const found = await one(source, kind, source.find(symbol, kind)?.symbol ?? symbol)
    if (found !== null) shown[symbol] = found
  }
  return shown
}

async function single(
  source: DataSource,
  { one, read: readOne, call: { request } }: { readonly one: string; readonly read: Read; readonly call: Call }
): Promise<Answer> {
  const symbol = paramOf(request, 'symbol')
  const found = source.find(symbol, 'stocks') === null ? null : await readOne(source, 'stocks', symbol)
  return jsonAnswer({ symbol, [one]: found })
}

export function quoteOf(source: DataSource, kind: Kind, symbol: string): object | null {
  const quote = source.quote(symbol)
  return quote === undefined ? null : quoteWire(kind, quote, source.letterOf(symbol))
}

export async function tradeOf(source: DataSource, kind: Kind, symbol: string): Promise<object | null> {
  const print = await source.print(symbol)
  return print === null ? null : tradeWire(kind, print)
}

async function barOf(source: DataSource, symbol: string): Promise<object | null> {
  const bar = await source.lastBar(symbol, '1m', true, BACK)
  return bar === null ? null : barWire(bar)
}

async function bookOf(source: DataSource, _kind: Kind, symbol: string): Promise<object | null> {
  const quote = source.quote(symbol)
  return quote === undefined ? null : { t: nanosOf(quote.at), b: levelsWire(quote.bids), a: levelsWire(quote.asks) }
}

/** What there is of it; each part may be missing. */
export async function snapshotOf(source: DataSource, kind: Kind, symbol: string): Promise<object> {
  const days = (await source.newest(symbol, '1d', { count: 2, back: BACK })).toReversed().map(barWire)
  const [dailyBar, prevDailyBar] = days
  const parts = {
    latestTrade: await tradeOf(source, kind, symbol),
    latestQuote: quoteOf(source, kind, symbol),
    minuteBar: await barOf(source, symbol),
    dailyBar,
    prevDailyBar
  }
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== null && part !== undefined))
}
