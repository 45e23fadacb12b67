/** Quotes of shares and options, chains and searches, in Tradier's fields: those that an adapter reads. */

import type { Answer, Instrument, QuoteLevel } from '../../frame/brokerage.ts'
import type { BrokerageView } from '../../frame/brokerage-view.ts'
import type { Call } from '../../frame/router.ts'
import { texts } from '../../frame/sign-in.ts'
import { answer } from '../answers.ts'
import { dayOf } from '../days.ts'
import { bad, type Form, isTrue, required } from '../parameters.ts'
import { fromTradier, toTradier } from '../symbols.ts'
import { type Branch, figure, plain } from '../tree.ts'
import type { LastTrades } from './last-trades.ts'
import { venueOf } from './venues.ts'

export interface QuotesDeps {
  readonly brokerage: BrokerageView
  readonly lastTrades: LastTrades
}

const SYMBOLS_MAX = 2_000
const FOUND_MAX = 100
/** Tradier counts the sizes of quotes in round lots. */
const LOT = 100

/** By GET with a query, by POST with a form, for lists that are too long for an address. */
export async function quotes(deps: QuotesDeps, call: Call): Promise<Answer> {
  const fields = texts(call.request.method === 'GET' ? call.request.query : call.request.body)
  const requested = [...new Set((fields.symbols ?? '').split(',').filter(symbol => symbol.trim() !== ''))]
  if (requested.length === 0 || requested.length > SYMBOLS_MAX) bad('symbols', `1 to ${SYMBOLS_MAX} symbols`)
  const known = requested.map(symbol => deps.brokerage.contracts.find(fromTradier(symbol))).filter(isTradiers)
  const found = await quoteTrees(deps, call, known, isTrue(fields.greeks))
  const names = new Set(known.map(({ symbol }) => symbol))
  const unmatched = requested.filter(symbol => !names.has(fromTradier(symbol)))
  return answer(call.request, {
    quotes: {
      ...(found.length === 0 ? {} : { quote: found }),
      ...(unmatched.length === 0 ? {} : { unmatched_symbols: { symbol: unmatched } })
    }
  })
}

export function expirations({ brokerage }: QuotesDeps, call: Call): Answer {
  const underlying = fromTradier(required(texts(call.request.query), 'symbol'))
  const dates = call.fault?.do === 'empty' ? [] : brokerage.market.expirations(underlying, brokerage.clock.now())
  return answer(call.request, { expirations: dates.length === 0 ? null : { date: dates } })
}

export async function chain(deps: QuotesDeps, call: Call): Promise<Answer> {
  const { market, clock } = deps.brokerage
  const query = texts(call.request.query)
  const found = market.chain(fromTradier(required(query, 'symbol')), expirationOf(query), clock.now())
  const rows = await quoteTrees(deps, call, found, isTrue(query.greeks))
  return answer(call.request, { options: rows.length === 0 ? null : { option: rows } })
}

/** By the beginning of the symbol, or (`byName`) by parts of the name too. */
export function find({ brokerage }: QuotesDeps, { request }: Call, byName: boolean): Answer {
  const wanted = (texts(request.query).q ?? '').trim()
  const found = brokerage.market.instruments
    .filter(({ kind }) => kind === 'STK')
    .filter(({ symbol, name }) => symbol.startsWith(fromTradier(wanted)) || (byName && name.toLowerCase().includes(wanted.toLowerCase())))
    .slice(0, FOUND_MAX)
    .map(({ symbol, exchange, name }) => ({
      ...{ symbol: toTradier(symbol), exchange: venueOf(exchange) },
      ...{ type: shareType(exchange), description: name }
    }))
  return answer(request, { securities: found.length === 0 ? null : { security: found } })
}

/** Whether the market is open, and its time. */
export function clock({ brokerage }: QuotesDeps, { request }: Call): Answer {
  const now = brokerage.clock.now()
  const { phase } = brokerage.market.phaseAt('us-equity', now)
  const state = phase === 'pre' || phase === 'post' ? `${phase}market` : phase
  return answer(request, { clock: { date: dayOf(now).toString(), state, timestamp: Math.floor(now / 1_000_000) } })
}

export function isTradiers(instrument: Instrument | null): instrument is Instrument {
  return instrument?.kind === 'STK' || instrument?.kind === 'OPT'
}

/** In hundreds for shares; a smaller size counts as one. */
export function sizeOf(level: QuoteLevel | undefined, isOption: boolean): number {
  const size = Number(level?.[1] ?? 0)
  return isOption || size === 0 ? Math.floor(size) : Math.max(1, Math.floor(size / LOT))
}

async function quoteTrees(deps: QuotesDeps, call: Call, found: readonly Instrument[], withGreeks: boolean): Promise<readonly Branch[]> {
  if (call.fault?.do === 'empty') return []
  await deps.brokerage.contracts.bring(found.map(({ symbol }) => symbol))
  return Promise.all(found.map(async instrument => ({ ...bookOf(deps, instrument), ...(await pricesOf(deps, instrument, withGreeks)) })))
}

function bookOf({ brokerage }: QuotesDeps, { symbol, name, exchange, kind }: Instrument): Branch {
  const quote = brokerage.driver.lastQuote(symbol)
  const [bid, ask] = [quote?.bids[0], quote?.asks[0]]
  const at = millis(quote?.at ?? 0)
  return {
    ...{ symbol: toTradier(symbol), description: name, exch: venueOf(exchange) },
    ...{ bid: plain(bid?.[0]), bidsize: sizeOf(bid, kind === 'OPT'), bid_date: at },
    ...{ ask: plain(ask?.[0]), asksize: sizeOf(ask, kind === 'OPT'), ask_date: at }
  }
}

async function pricesOf({ brokerage, lastTrades }: QuotesDeps, instrument: Instrument, withGreeks: boolean): Promise<Branch> {
  const { symbol, option, exchange } = instrument
  if (option === undefined) {
    const { price, at } = await lastTrades.of(symbol)
    return { type: shareType(exchange), last: plain(price), trade_date: millis(at) }
  }
  const figures = brokerage.market.figures(symbol, brokerage.clock.now())
  const volume = Number(figures?.volume ?? 0)
  return {
    ...{ type: 'option', underlying: toTradier(option.underlying), option_type: option.right },
    ...{ strike: plain(option.strike), expiration_date: option.expiration },
    ...{ open: plain(figures?.open), high: plain(figures?.high), low: plain(figures?.low), close: plain(figures?.close) },
    ...{ last: plain(figures?.last), prevclose: plain(figures?.previousClose), volume },
    trade_date: volume > 0 ? millis(brokerage.driver.lastQuote(symbol)?.at ?? 0) : 0,
    greeks: withGreeks ? greeksOf(figures) : undefined
  }
}

/** Null where the model has no value. */
function greeksOf(figures: ReturnType<BrokerageView['market']['figures']>): Branch | null {
  if (figures === null || figures.delta === null) return null
  const { delta, gamma, theta, vega, rho, iv: mid_iv } = figures
  return Object.fromEntries(Object.entries({ delta, gamma, theta, vega, rho, mid_iv }).map(([name, value]) => [name, figure(value, 1)]))
}

function shareType(exchange: string): string {
  return exchange === 'ARCA' ? 'etf' : 'stock'
}

function expirationOf({ expiration }: Form): string {
  if (expiration !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(expiration)) return expiration
  return bad('expiration', 'must be a date such as 2026-12-18')
}

function millis(at: number): number {
  return Math.floor(at / 1000)
}
