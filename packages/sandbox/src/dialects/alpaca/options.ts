/** The chains of options: contracts on the trading host, snapshots on that of market data. */

import type { FastifyRequest } from 'fastify'
import { type Answer, type Instrument, type OptionFigures, paramOf } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { Body } from './body.ts'
import type { CustomerView } from './customer-view.ts'
import { snapshotOf } from './data/latest.ts'
import type { DataSource } from './data/source.ts'
import { assetIdOf } from './ids.ts'
import { badParameter, jsonAnswer, notFound } from './problems.ts'
import { newYorkOf } from './times.ts'

const CONTRACTS = '/alpaca/api/v2/options/contracts'
const SNAPSHOTS = '/alpaca/data/v1beta1/options/snapshots'
const CONTRACTS_LIMIT = { least: 1, most: 10_000, fallback: 100 }
const SNAPSHOTS_LIMIT = { least: 1, most: 1_000, fallback: 100 }

export interface OptionDeps {
  readonly brokerage: BrokerageView
  readonly customerView: CustomerView
  readonly source: DataSource
}

/** Those of the trading host. */
export function contractRoutes(deps: OptionDeps): readonly DialectRoute[] {
  const about = (request: FastifyRequest) => ({ symbol: paramOf(request, 'symbol'), clientOrderId: null })
  return [
    { method: 'GET', path: CONTRACTS, operation: 'expirations.list', handle: call => contracts(deps, call) },
    { method: 'GET', path: `${CONTRACTS}/:symbol`, operation: 'instruments.get', about, handle: call => contract(deps, call) }
  ]
}

/** Those of the market data host. */
export function snapshotRoutes(deps: OptionDeps): readonly DialectRoute[] {
  return [{ method: 'GET', path: `${SNAPSHOTS}/:underlying`, operation: 'chain.list', handle: call => chain(deps, call) }]
}

function contracts(deps: OptionDeps, { request, fault }: Call): Answer {
  if (fault?.do === 'empty') return jsonAnswer({ option_contracts: [], next_page_token: null })
  const body = new Body(request.query)
  const underlyings = body.list('underlying_symbols') ?? []
  const wanted = wantedOf(body)
  // Anyone who names no expiration sees what expires by the end of the week only.
  const ends = wanted.by ?? (wanted.date === null ? nextWeekend(deps.brokerage) : null)
  const found = underlyings.flatMap(underlying => contractsOf(deps.brokerage, underlying, { ...wanted, by: ends }))
  const { items, next } = pageOf(found, { body, limit: CONTRACTS_LIMIT, fault })
  return jsonAnswer({ option_contracts: items.map(item => contractWire(deps.brokerage, item)), next_page_token: next })
}

function contract({ brokerage, customerView }: OptionDeps, { request }: Call): Answer {
  const symbol = paramOf(request, 'symbol')
  const found = customerView.instrument(symbol)
  if (found?.option === undefined) throw notFound(`option contract not found for ${symbol.slice(0, 40)}`)
  return jsonAnswer(contractWire(brokerage, found))
}

async function chain(deps: OptionDeps, { request, fault }: Call): Promise<Answer> {
  if (fault?.do === 'empty') return jsonAnswer({ snapshots: {}, next_page_token: null })
  const body = new Body(request.query)
  const found = contractsOf(deps.brokerage, paramOf(request, 'underlying'), wantedOf(body))
  const { items, next } = pageOf(found, { body, limit: SNAPSHOTS_LIMIT, fault })
  const symbols = items.map(({ symbol }) => symbol)
  return jsonAnswer({ snapshots: await snapshots(deps, symbols), next_page_token: next })
}

async function snapshots({ brokerage, source }: OptionDeps, symbols: readonly string[]): Promise<Readonly<Record<string, object>>> {
  await source.bring(symbols)
  const shown: Record<string, object> = {}
  for (const symbol of symbols) {
    const figures = brokerage.market.figures(symbol, source.now())
    shown[symbol] = { ...(await snapshotOf(source, 'options', symbol)), ...modelOf(figures) }
  }
  return shown
}

/** The model's figures; nothing for a contract it cannot value. */
function modelOf(figures: OptionFigures | null): object {
  if (figures === null || figures.iv === null) return {}
  const { iv, delta, gamma, theta, vega, rho } = figures
  const greeks = Object.entries({ delta, gamma, theta, vega, rho }).filter(([, value]) => value !== null)
  return { impliedVolatility: Number(iv), greeks: Object.fromEntries(greeks.map(([name, value]) => [name, Number(value)])) }
}

interface Wanted {
  readonly type: 'call' | 'put' | null
  readonly date: string | null
  readonly from: string | null
  readonly by: string | null
}

function wantedOf(body: Body): Wanted {
  return {
    type: body.memberOr('type', ['call', 'put']),
    date: body.text('expiration_date'),
    from: body.text('expiration_date_gte'),
    by: body.text('expiration_date_lte')
  }
}

/** By symbol. */
function contractsOf({ market, clock }: BrokerageView, underlying: string, wanted: Wanted): readonly Instrument[] {
  const now = clock.now()
  const { type, date, from, by } = wanted
  const expirations = market
    .expirations(underlying, now)
    .filter(day => (date === null || day === date) && (from === null || day >= from) && (by === null || day <= by))
  return expirations
    .flatMap(day => market.chain(underlying, day, now))
    .filter(({ option }) => option !== undefined && (type === null || option.right === type))
    .toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1))
}

function nextWeekend({ clock }: BrokerageView): string {
  const today = newYorkOf(clock.now()).toPlainDate()
  // The Saturday after today.
  return today.add({ days: ((5 - (today.dayOfWeek % 7) + 7) % 7) + 1 }).toString()
}

interface PageFacts {
  readonly body: Body
  readonly limit: { readonly least: number; readonly most: number; readonly fallback: number }
  readonly fault: Call['fault']
}

/** The token names the page and the contract it begins behind. */
function pageOf(
  all: readonly Instrument[],
  { body, limit, fault }: PageFacts
): { readonly items: readonly Instrument[]; readonly next: string | null } {
  const size = body.count('limit', limit)
  const token = body.text('page_token')
  const [page = '1', behind = ''] = token === null ? [] : Buffer.from(token, 'base64url').toString().split('|')
  if (!/^\d{1,6}$/.test(page)) throw badParameter('invalid page_token')
  const left = all.filter(({ symbol }) => symbol > behind)
  const number = Number(page) + 1
  const isLost = fault?.do === 'lose_page' && number === fault.page
  const last = left[isLost ? 2 * size - 1 : size - 1]
  const hasMore = last !== undefined && left.at(-1) !== last
  const next = hasMore ? Buffer.from(`${number + (isLost ? 1 : 0)}|${last.symbol}`).toString('base64url') : null
  return { items: left.slice(0, size), next }
}

function contractWire({ market, contracts: followed, clock }: BrokerageView, { symbol, name, option, multiplier }: Instrument): object {
  if (option === undefined) throw new Error(`${symbol} is no option`)
  // Figures of what nobody follows would take milliseconds each.
  const figures = followed.comes(symbol) ? market.figures(symbol, clock.now()) : null
  const yesterday = newYorkOf(clock.now()).toPlainDate().subtract({ days: 1 }).toString()
  return {
    id: assetIdOf(symbol),
    symbol,
    name,
    status: 'active',
    tradable: true,
    expiration_date: option.expiration,
    root_symbol: option.underlying,
    underlying_symbol: option.underlying,
    underlying_asset_id: assetIdOf(option.underlying),
    type: option.right,
    style: option.style,
    strike_price: option.strike,
    multiplier,
    size: multiplier,
    open_interest: figures?.openInterest ?? null,
    open_interest_date: figures?.openInterest === null || figures === null ? null : yesterday,
    close_price: figures?.previousClose ?? null,
    close_price_date: figures?.previousClose === null || figures === null ? null : yesterday,
    ppind: true
  }
}
