/** The options of an underlying, from the contracts that Alpaca lists, and their market, from its snapshots. Pure. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { difference, middle, percentage } from '@trunkline/core/domain/fast/small-sums'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { ChainEntry, Greeks, Quote } from '@trunkline/core/domain/market/records'
import { type Day, timestampOfMs, tradingDay } from '@trunkline/core/domain/timestamp'
import type { HttpReply, HttpRequest } from '../../kit/http.ts'
import { readJson } from '../../kit/json.ts'
import { day, decimal, field, list, member, nested, nestedOrNull, object, text, textOrNull, type Wire } from '../../kit/parse.ts'
import { get } from '../../kit/requests.ts'
import { readRecord } from '../quirks.ts'
import type { MarketSettings } from './settings.ts'
import { exactOrNull, msOf, nanosOf, symbolIn } from './values.ts'

const CONTRACTS_PAGE = '5000'
const SNAPSHOTS_PAGE = '1000'

export interface Contract {
  readonly symbol: string
  readonly right: 'C' | 'P'
  readonly strike: Decimal
  readonly expiration: Day
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly next: string | null
}

/** Of one expiration; or one side of all from a day on, which is enough to see the days. Alpaca's own default leaves out all but the nearest. */
export function contractsRequest(
  underlying: string,
  requested: { readonly on: Day } | { readonly from: Day },
  next: string | null
): HttpRequest {
  const days =
    'on' in requested
      ? { expiration_date: requested.on }
      : { expiration_date_gte: requested.from, expiration_date_lte: '9999-12-31', type: 'call' }
  return get('/v2/options/contracts', {
    underlying_symbols: underlying,
    status: 'active',
    ...days,
    limit: CONTRACTS_PAGE,
    page_token: next
  })
}

export function parseContracts(reply: HttpReply): Page<Contract> {
  const answer = readRecord(reply)
  return { items: list(answer, 'option_contracts', contractOf), next: textOrNull(answer, 'next_page_token') }
}

function contractOf(wire: Wire): Contract {
  return {
    symbol: symbolIn(text(wire, 'symbol'), 'symbol'),
    right: member(wire, 'type', { call: 'C', put: 'P' } as const),
    strike: decimal(wire, 'strike_price'),
    expiration: day(wire, 'expiration_date')
  }
}

export function snapshotsRequest(
  underlying: string,
  expiration: Day,
  { optionFeed, next }: Pick<MarketSettings, 'optionFeed'> & { readonly next: string | null }
): HttpRequest {
  return get(`/v1beta1/options/snapshots/${encodeURIComponent(underlying)}`, {
    feed: optionFeed,
    expiration_date: expiration,
    limit: SNAPSHOTS_PAGE,
    page_token: next
  })
}

/** Each contract's market by its symbol, as it came. */
export function parseSnapshots(reply: HttpReply): Page<readonly [string, Wire]> {
  const answer = object(readJson(reply.body, { numbers: 'text' }), 'answer')
  const snapshots = nestedOrNull(answer, 'snapshots') ?? {}
  return {
    items: Object.entries(snapshots).map(([symbol, wire]) => [symbol, object(wire, symbol)] as const),
    next: textOrNull(answer, 'next_page_token')
  }
}

/** A contract and its market; without one all of it is unknown. @throws Malformed */
export function chainEntry({ symbol, right, strike, expiration }: Contract, snapshot: Wire | null, presentMs: number): ChainEntry {
  const part = (key: string) => (snapshot === null ? null : nestedOrNull(snapshot, key))
  const [quote, trade, previous] = [part('latestQuote'), part('latestTrade'), part('prevDailyBar')]
  const today = todays(part('dailyBar'), presentMs)
  const bid = price(quote, 'bp')
  const ask = price(quote, 'ap')
  const last = price(trade, 'p')
  const previousClose = price(previous, 'c')
  const netChange = last === null || previousClose === null ? null : difference(last, previousClose)
  return {
    ...{ symbol, right, strike, expiration, bid, ask, last, previousClose, netChange },
    bidSize: bid === null ? null : number(quote, 'bs'),
    askSize: ask === null ? null : number(quote, 'as'),
    mid: bid === null || ask === null ? null : middle(bid, ask),
    open: price(today, 'o'),
    high: price(today, 'h'),
    low: price(today, 'l'),
    // Alpaca does not say whether the day is over.
    close: null,
    netChangePct: netChange === null || previousClose === null ? null : percentage(netChange, previousClose),
    volume: number(today, 'v'),
    greeks: snapshot === null ? null : greeksOf(snapshot)
  }
}

/** The entry with a quote of the stream, unless the snapshot's own is newer. */
export function withQuote(entry: ChainEntry, quote: Quote, snapshot: Wire | null): ChainEntry {
  const own = snapshot === null ? null : nestedOrNull(snapshot, 'latestQuote')
  if (own !== null && BigInt(nanosOf(field(own, 't'), 't')) > BigInt(quote.at)) return entry
  const { bidPrice: bid, bidSize, askPrice: ask, askSize } = quote
  return { ...entry, bid, bidSize, ask, askSize, mid: bid === null || ask === null ? null : middle(bid, ask) }
}

/** A contract that has not traded today still shows its last day's bar. */
function todays(bar: Wire | null, presentMs: number): Wire | null {
  if (bar === null) return null
  const dayOf = (ms: number) => tradingDay(timestampOfMs(ms))
  return dayOf(msOf(field(bar, 't'), 't')) === dayOf(presentMs) ? bar : null
}

function greeksOf(snapshot: Wire): Greeks | null {
  const greeks = nestedOrNull(snapshot, 'greeks')
  const iv = number(snapshot, 'impliedVolatility')
  if (greeks === null && iv === null) return null
  const [delta, gamma, theta, rho, vega] = ['delta', 'gamma', 'theta', 'rho', 'vega'].map(name => number(greeks, name))
  return { delta: delta ?? null, gamma: gamma ?? null, theta: theta ?? null, rho: rho ?? null, vega: vega ?? null, iv }
}

function number(wire: Wire | null, key: string): Decimal | null {
  return wire === null ? null : exactOrNull(field(wire, key), key)
}

/** A price of nothing is none. */
function price(wire: Wire | null, key: string): Decimal | null {
  const value = number(wire, key)
  return value === null || Number(value) === 0 ? null : value
}

/** The present quotes in an answer that has them by symbol, as items of a stream. @throws Malformed */
export function parseLatestQuotes(reply: HttpReply): readonly object[] {
  const quotes = nested(object(readJson(reply.body, { numbers: 'text' }), 'answer'), 'quotes')
  return Object.entries(quotes).map(([symbol, quote]) => {
    if (typeof quote !== 'object' || quote === null) throw new Malformed('quote', 'an object', quote)
    return { ...quote, T: 'q', S: symbol }
  })
}
