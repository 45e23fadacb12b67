/** Instruments over REST: their list, quotes, bars, and the chains of options. */

import type { FastifyRequest } from 'fastify'
import {
  BAR_INTERVALS,
  type Bar,
  type BarInterval,
  DAILY_SESSIONS,
  type DailySession,
  type Instrument,
  MARKETS,
  type Market,
  UnknownSymbol
} from '../../market/types.ts'
import type { BrokerageClock } from '../clock.ts'
import type { Contracts } from '../contracts.ts'
import type { MarketDriver } from '../market-driver.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import type { BrokerageState } from '../state.ts'
import * as wire from '../wire.ts'
import { firstBars } from './bars.ts'
import { type Cursors, questionOf } from './cursor.ts'
import { paramOf } from './orders.ts'
import { paged, whole } from './pages.ts'
import type { Call, Reply, Route } from './router.ts'

export interface InstrumentRoutesDeps {
  readonly state: BrokerageState
  readonly market: Market
  readonly contracts: Contracts
  readonly driver: MarketDriver
  readonly clock: BrokerageClock
  readonly cursors: Cursors
}

const BARS_DEFAULT = 500
const BARS_PAGE_MAX = 10_000
const SYMBOLS_MAX = 100

export function instrumentRoutes(deps: InstrumentRoutesDeps): readonly Route[] {
  const scope = 'read'
  const about = (request: FastifyRequest) => ({ symbol: paramOf(request, 'symbol'), clientOrderId: null })
  return [
    { method: 'GET', path: '/instruments', operation: 'instruments.list', scope, handle: call => instruments(deps, call) },
    { method: 'GET', path: '/instruments/:symbol', operation: 'instruments.get', scope, about, handle: call => instrument(deps, call) },
    { method: 'GET', path: '/expirations', operation: 'expirations.list', scope, handle: call => expirations(deps, call) },
    { method: 'GET', path: '/chain', operation: 'chain.list', scope, handle: call => chain(deps, call) },
    { method: 'GET', path: '/quotes', operation: 'quotes.list', scope, handle: call => quotes(deps, call) },
    { method: 'GET', path: '/bars', operation: 'bars.list', scope, handle: call => bars(deps, call) }
  ]
}

function instruments(deps: InstrumentRoutesDeps, call: Call): Reply {
  const fields = new Fields(call.request.query, ['class', 'search', 'underlying', 'expiration', 'limit', 'cursor'])
  const search = fields.textOr('search')?.toLowerCase() ?? ''
  const known = listed(deps, fields)
    .filter(({ symbol, name }) => `${symbol} ${name}`.toLowerCase().includes(search))
    .toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1))
  const fetch = (after: string | undefined, most: number) =>
    known.filter(({ symbol }) => after === undefined || symbol > after).slice(0, most)
  const merge = { parts: [{ account: '', fetch }], idOf: ({ symbol }: Instrument) => symbol, before: () => false }
  return paged(deps, call, { fields, merge, show: found => shown(deps, found) })
}

/** Lists options of a single chain only, because there are too many. */
function listed({ market, clock }: InstrumentRoutesDeps, fields: Fields): readonly Instrument[] {
  const wanted = fields.memberOr('class', wire.valuesOf(wire.ASSET_CLASSES))
  const [underlying, expiration] = [fields.textOr('underlying'), fields.dateOr('expiration')]
  const now = clock.now()
  if (wanted === 'option') {
    if (underlying === null || expiration === null)
      throw new Problem('bad_request', 'options are listed by underlying and expiration; see GET /expirations', { field: 'underlying' })
    return market.chain(underlying, expiration, now)
  }
  if (underlying !== null || expiration !== null)
    throw new Problem('bad_request', 'underlying and expiration go with class=option', { field: 'underlying' })
  const all = [...market.instruments, ...market.futures(now)]
  return wanted === null ? all : all.filter(({ kind }) => kind === wire.ASSET_CLASSES[wanted])
}

function instrument(deps: InstrumentRoutesDeps, { request }: Call): Reply {
  const symbol = paramOf(request, 'symbol')
  const found = deps.contracts.find(symbol)
  if (found === null) throw unknownSymbol(symbol)
  return { body: { instrument: shown(deps, found) } }
}

function shown({ state, market, clock }: InstrumentRoutesDeps, found: Instrument): object {
  const view = state.engine.market(found.symbol)
  const group = MARKETS.find(name => name === found.market) ?? 'us-equity'
  return wire.instrumentWire(found, view?.phase ?? market.phaseAt(group, clock.now()).phase, view?.halted ?? false)
}

function expirations({ market, clock }: InstrumentRoutesDeps, { request, fault }: Call): Reply {
  const underlying = new Fields(request.query, ['underlying']).text('underlying')
  return whole(
    market.expirations(underlying, clock.now()).map(expiration => ({ expiration })),
    fault
  )
}

async function chain({ market, clock, contracts, driver }: InstrumentRoutesDeps, { request, fault }: Call): Promise<Reply> {
  const fields = new Fields(request.query, ['underlying', 'expiration'])
  const [underlying, expiration] = [fields.text('underlying'), fields.dateOr('expiration')]
  if (expiration === null) throw new Problem('bad_request', 'expiration is missing', { field: 'expiration' })
  const found = market.chain(underlying, expiration, clock.now())
  if (found.length === 0) throw unknownSymbol(`${underlying} ${expiration}`)
  await contracts.bring(found.map(({ symbol }) => symbol))
  const at = clock.now()
  const rows = found.map(contract => wire.chainRowWire(contract, driver.lastQuote(contract.symbol), market.figures(contract.symbol, at)))
  return whole(rows, fault)
}

async function quotes({ state, contracts }: InstrumentRoutesDeps, { request, fault }: Call): Promise<Reply> {
  const symbols = new Fields(request.query, ['symbols']).text('symbols').split(',')
  if (symbols.length > SYMBOLS_MAX) throw new Problem('bad_request', `at most ${SYMBOLS_MAX} symbols at once`, { field: 'symbols' })
  await contracts.bring(symbols)
  const items = symbols.map(symbol => {
    const market = state.engine.market(symbol)
    if (market === undefined) throw unknownSymbol(symbol)
    return wire.quoteWire(market)
  })
  return whole(items, fault)
}

async function bars(deps: InstrumentRoutesDeps, call: Call): Promise<Reply> {
  const fields = new Fields(call.request.query, ['symbol', 'interval', 'session', 'from', 'to', 'limit', 'cursor'])
  const symbol = fields.text('symbol')
  const interval = fields.member('interval', BAR_INTERVALS)
  const now = deps.clock.now()
  const [from, to] = [fields.timeOr('from'), fields.timeOr('to') ?? now + 1]
  const limit = fields.countOr('limit', 1, BARS_PAGE_MAX) ?? BARS_DEFAULT
  const position = deps.cursors.read(fields.textOr('cursor'), questionOf(call))
  const session = dailySession(deps, fields, symbol, interval)
  const query = { symbol, interval, to, now, ...(session === null ? {} : { session }) }
  const found = await (position.after[''] === undefined && from === null
    ? deps.market.bars({ ...query, from: 0, limit })
    : firstBars(deps.market, { ...query, from: position.after[''] === undefined ? (from ?? 0) : Number(position.after['']) + 1 }, limit + 1)
  ).catch((error: unknown) => {
    throw error instanceof UnknownSymbol ? unknownSymbol(symbol) : error
  })
  const parts = [{ account: '', fetch: (_after: string | undefined, most: number) => found.slice(0, most) }]
  return paged(deps, call, {
    fields,
    merge: { parts, idOf: (bar: Bar) => String(bar.start), before: () => false },
    show: wire.barWire,
    limit
  })
}

function dailySession({ contracts }: InstrumentRoutesDeps, fields: Fields, symbol: string, interval: BarInterval): DailySession | null {
  const session = fields.memberOr('session', DAILY_SESSIONS)
  if (session === null) return null
  const found = contracts.find(symbol)
  if (found === null) throw unknownSymbol(symbol)
  if (interval === '1d' && found.kind === 'STK') return session
  throw new Problem('bad_request', 'session goes with interval=1d of a share: other bars have no session', { field: 'session' })
}

function unknownSymbol(symbol: string): Problem {
  return new Problem('unknown_symbol', `no symbol ${JSON.stringify(symbol.slice(0, 40))} here; see GET /instruments`, {
    status: 404,
    field: 'symbol'
  })
}
