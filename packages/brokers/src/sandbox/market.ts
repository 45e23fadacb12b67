/** The sandbox's market data of one login: what is read, with bars and chains in the core's terms. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { isPlainDecimal } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Bar, ChainEntry, Greeks } from '@trunkline/core/domain/market/records'
import { type Day, epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { type BarsRequest, type FoundSymbol, SYMBOLS_FOUND_MAX } from '@trunkline/core/ports/market'
import { isSuccess } from '../kit/calls.ts'
import { symbolIn } from '../kit/exact-values.ts'
import type { HttpReply, HttpRequest } from '../kit/http.ts'
import { readJson } from '../kit/json.ts'
import { changeOf, midOf, percentOf } from '../kit/market-values.ts'
import { day, field, list, object, records, textOrNull, timestamp, type Wire } from '../kit/parse.ts'
import type { ListPage, ListRead } from '../kit/runtime/read-definitions.ts'
import { answered, whole } from '../kit/runtime/reads.ts'
import type { BarsPage, MarketDefinition, MarketStreams } from '../kit/runtime/rest-market.ts'
import { demandWindow } from '../kit/time-windows.ts'
import { isUnknown, readAnswer } from './codecs.ts'
import { get } from './orders.ts'
import { foundSymbol, parseInstrument } from './symbols.ts'

/** Pages of bars in one request: four times what one may read. */
const PAGES_MAX = 100

/** A page is read in one turn of the event loop, so orders wait for it. */
export const BARS_PAGE = 2_000
const SYMBOL_MAX = 32
const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

const SEARCH: ListRead<'api', string, FoundSymbol> = {
  resource: 'api',
  request: search => get('/instruments', { search, limit: String(SYMBOLS_FOUND_MAX) }),
  page: reply => ({ records: records(field(readAnswer(reply.body), 'items'), 'items'), next: null }),
  items: (found, _search, { readable }) => readable('instruments', found, foundSymbol, 'symbol')
}

/** What the sandbox has of a symbol; nothing for one that it does not know. @throws BrokerFault */
function aboutSymbol({ status, body }: HttpReply): ListPage {
  const answer = readAnswer(body)
  const page = { next: null, brokerClock: timestamp(answer, 'sandbox_time') }
  if (isSuccess(status)) return { ...page, records: [answer] }
  if (isUnknown('symbol', answer)) return { ...page, records: [] }
  throw new BrokerFault('refused', 'the symbol could not be requested from the sandbox')
}

export function sandboxMarket(streams: MarketStreams): MarketDefinition<'api'> {
  return {
    broker: 'the sandbox',
    instrument: {
      resource: 'api',
      request: symbol => get(`/instruments/${encodeURIComponent(symbol)}`),
      page: aboutSymbol,
      also: [404],
      items: (answers, symbol) => whole(answers.map(answer => parseInstrument(answer, symbol)))
    },
    bars: {
      windows: request => [
        { resource: 'api', request: cursor => barsRequest(request, cursor), page: ({ body }) => parseBarsPage(body), pagesMax: PAGES_MAX }
      ]
    },
    expirations: answered(
      'api',
      underlying => get('/expirations', { underlying }),
      ({ body }) => readAnswer(body),
      answer => list(answer, 'items', wire => day(wire, 'expiration'))
    ),
    chain: {
      resource: 'api',
      request: ({ underlying, expiration }) => get('/chain', { underlying, expiration }),
      page: aboutSymbol,
      also: [404],
      items: answers => whole(answers.flatMap(answer => list(answer, 'items', wire => chainEntry(wire, day(wire, 'expiration')))))
    },
    searches: [SEARCH],
    streams
  }
}

/** @throws BrokerFault `refused` for times that the sandbox cannot represent */
export function barsRequest(request: BarsRequest, cursor: string | null): HttpRequest {
  const { symbol, interval, fromMs, toMs, session } = request
  demandWindow(request)
  const ofDays = session === 'USEqCore' ? 'core' : null
  const [from, to] = [timestampOfMs(fromMs), timestampOfMs(toMs)]
  return get('/bars', { symbol, interval, session: ofDays, from, to, limit: String(BARS_PAGE), cursor })
}

/** A page has thousands of bars, so each is read with as little as it takes. @throws Malformed */
export function parseBarsPage(body: string): BarsPage {
  const answer = object(readJson(body), 'answer')
  const { items } = answer
  if (!Array.isArray(items) || items.length > BARS_PAGE) throw new Malformed('items', `a list of at most ${BARS_PAGE}`, items)
  return { bars: items.map(parseBar), next: textOrNull(answer, 'next'), clockMs: epochMs(timestamp(answer, 'sandbox_time')) }
}

function parseBar(item: unknown): Bar {
  if (!isItem(item)) throw new Malformed('bar', 'an object', item)
  const { closed } = item
  if (typeof closed !== 'boolean') throw new Malformed('closed', 'true or false', closed)
  return {
    startMs: startOf(item.start),
    open: decimalOf(item.open, 'open'),
    high: decimalOf(item.high, 'high'),
    low: decimalOf(item.low, 'low'),
    close: decimalOf(item.close, 'close'),
    volume: decimalOf(item.volume, 'volume'),
    closed
  }
}

/** An object, before anything about it is known. Its fields are read by name, never listed, so no inherited or extra one gets in. */
export function isItem(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null
}

export function decimalOf(value: unknown, what: string): Decimal {
  if (isPlainDecimal(value)) return value
  throw new Malformed(what, 'a plain decimal string', value)
}

function startOf(value: unknown): number {
  if (typeof value === 'string' && UTC_TIME.test(value)) {
    const ms = Date.parse(value)
    if (!Number.isNaN(ms)) return ms
  }
  throw new Malformed('start', 'a time in UTC', value)
}

/** A contract of a chain, in an answer or in the stream. @throws Malformed */
export function chainEntry(item: Wire, expiration: Day): ChainEntry {
  const bid = decimalOrNull(item.b, 'b')
  const ask = decimalOrNull(item.a, 'a')
  const last = decimalOrNull(item.last, 'last')
  const previousClose = decimalOrNull(item.pc, 'pc')
  const netChange = changeOf(last, previousClose)
  return {
    symbol: symbolIn(item.s, 's', SYMBOL_MAX),
    right: right(item.right),
    strike: decimalOf(item.strike, 'strike'),
    expiration,
    bid,
    bidSize: decimalOrNull(item.bz, 'bz'),
    ask,
    askSize: decimalOrNull(item.az, 'az'),
    mid: midOf(bid, ask),
    last,
    open: decimalOrNull(item.o, 'o'),
    high: decimalOrNull(item.h, 'h'),
    low: decimalOrNull(item.l, 'l'),
    close: decimalOrNull(item.c, 'c'),
    previousClose,
    netChange,
    netChangePct: percentOf(netChange, previousClose),
    volume: decimalOrNull(item.v, 'v'),
    greeks: greeks(item)
  }
}

function greeks(item: Wire): Greeks | null {
  const delta = decimalOrNull(item.delta, 'delta')
  const gamma = decimalOrNull(item.gamma, 'gamma')
  const theta = decimalOrNull(item.theta, 'theta')
  const rho = decimalOrNull(item.rho, 'rho')
  const vega = decimalOrNull(item.vega, 'vega')
  const iv = decimalOrNull(item.iv, 'iv')
  const isNothing = delta === null && gamma === null && theta === null && rho === null && vega === null && iv === null
  return isNothing ? null : { delta, gamma, theta, rho, vega, iv }
}

function right(value: unknown): 'C' | 'P' {
  if (value === 'call') return 'C'
  if (value === 'put') return 'P'
  throw new Malformed('right', 'call or put', value)
}

export function decimalOrNull(value: unknown, what: string): Decimal | null {
  return value === null ? null : decimalOf(value, what)
}
