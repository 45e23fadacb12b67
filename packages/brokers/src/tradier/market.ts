/** Tradier's market data in the core's terms: what a symbol is, quotes, bars, chains and searches. Pure; readers throw only Malformed. */

import { dateAtInstant, midnight, usEquityCalendar, usOptionCalendar } from '@trunkline/core/domain/calendar/index'
import type { Decimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type Bar, type ChainEntry, type Greeks, nanosOfMs, type Quote } from '@trunkline/core/domain/market/records'
import { formatSymbol, parseSymbol } from '@trunkline/core/domain/symbol'
import { type Day, parseDay } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { BarsRequest, FoundSymbol, MarketInstrument } from '@trunkline/core/ports/market'
import { isSuccess } from '../kit/calls.ts'
import { enumCodec, of, record } from '../kit/codec.ts'
import type { HttpReply, HttpRequest } from '../kit/http.ts'
import { calendarFor, type MarketHours } from '../kit/market-hours.ts'
import { derived, hundreds, latestMs, sided } from '../kit/market-values.ts'
import { day, integer, nested, text, type Wire } from '../kit/parse.ts'
import { form, get } from '../kit/requests.ts'
import type { OpenLogin } from '../kit/runtime/definition.ts'
import type { FullListDefinition, QuotesDefinition, SymbolSinks } from '../kit/runtime/full-list-feed.ts'
import { QuotedStreams } from '../kit/runtime/quoted-streams.ts'
import type { ListRead } from '../kit/runtime/read-definitions.ts'
import { answered } from '../kit/runtime/reads.ts'
import type { BarsWindow, MarketDefinition, RestMarket } from '../kit/runtime/rest-market.ts'
import { type BarsKind, type Window, windowsOf } from '../kit/time-windows.ts'
import {
  amount,
  amountOrNull,
  collapsed,
  displayTextOf,
  errorMessageOf,
  items,
  nestedOf,
  type Resource,
  requestedAnswer,
  textOf
} from './quirks.ts'
import { fromTradier, isIndexOption, isOption, toTradier } from './symbols.ts'

/** Symbols in one request for quotes. */
export const QUOTES_MAX = 400
const CALENDARS = { shares: usEquityCalendar(), options: usOptionCalendar(), indexOptions: usOptionCalendar('index') }
const ZONE = 'America/New_York'
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** Quotes in the core's terms, as streams and polls use them. */
const QUOTES: QuotesDefinition<Resource> = {
  broker: 'Tradier',
  resource: 'market',
  toBroker: toTradier,
  max: QUOTES_MAX,
  request: quotesRequest,
  parse: reply => parseQuotes(requestedAnswer(reply)),
  quoteOf,
  changedMs: (quote, channel) => (channel === 'trades' ? latestMs(quote, 'trade_date') : latestMs(quote, 'bid_date', 'ask_date'))
}

/** `stream` null: the practice accounts may have none, and quotes are polled. */
export function tradierMarket<Sinks extends SymbolSinks>(
  hours: MarketHours,
  stream: FullListDefinition<Sinks> | null,
  login: Pick<OpenLogin<Resource>, 'calls' | 'clock' | 'socket'>,
  market: RestMarket<Resource>
): MarketDefinition<Resource> {
  return {
    broker: 'Tradier',
    instrument: marketRead(
      symbol => quotesRequest([toTradier(symbol)]),
      (answer, symbol) => {
        const quote = parseQuotes(answer).get(toTradier(symbol))
        return quote === undefined ? [] : [instrumentOf(quote, hours)]
      }
    ),
    clock: { resource: 'market', request: get('/markets/clock'), parse: reply => parseClock(requestedAnswer(reply)) },
    bars: { windows: (request, _known, presentMs) => barsWindows(request, presentMs) },
    // With all roots, because an index has options under other root symbols.
    expirations: marketRead(
      underlying => get('/markets/options/expirations', { symbol: toTradier(underlying), includeAllRoots: 'true' }),
      parseExpirations
    ),
    chain: marketRead(
      ({ underlying, expiration }) => get('/markets/options/chains', { symbol: toTradier(underlying), expiration, greeks: 'true' }),
      parseChain
    ),
    // One finds symbols by what they begin with, the other by words of the name.
    searches: ['/markets/lookup', '/markets/search'].map(searchAt),
    streams: new QuotedStreams(QUOTES, stream, login, market)
  }
}

function marketRead<Query, T>(request: (query: Query) => HttpRequest, parse: (answer: Wire, query: Query) => readonly T[]) {
  return answered<Resource, Query, T>('market', request, requestedAnswer, parse)
}

/** By POST, because a list of options makes a long address. */
export function quotesRequest(symbols: readonly string[]): HttpRequest {
  return form('POST', '/markets/quotes', { symbols: symbols.join(','), greeks: 'false' })
}

/** By Tradier's symbol. */
export function parseQuotes(answer: Wire): ReadonlyMap<string, Wire> {
  // When none of the symbols is known there is nothing but the list of those that are not.
  const quotes = nested(answer, 'quotes')
  const known = Object.hasOwn(quotes, 'quote') ? items(answer, 'quotes', 'quote') : []
  return new Map(known.map(quote => [text(quote, 'symbol', 32), quote]))
}

/** Milliseconds since the epoch. Given in whole seconds: the second is over when the message arrives. */
export function parseClock(answer: Wire): number {
  return integer(nested(answer, 'clock'), 'timestamp') * 1_000 + 999
}

export function instrumentOf(quote: Wire, hours: MarketHours): MarketInstrument {
  const symbol = text(quote, 'symbol', 32)
  const usual = isIndexOption(symbol) ? CALENDARS.indexOptions : isOption(symbol) ? CALENDARS.options : CALENDARS.shares
  return { symbol: fromTradier(symbol), instrument: isOption(symbol) ? 'OPT' : 'STK', calendar: calendarFor(hours, usual) }
}

export function quoteOf(quote: Wire): Quote {
  const isContract = isOption(text(quote, 'symbol', 32))
  const size = (key: string) => sized(amountOrNull(quote, key), isContract)
  return sided({
    bidPrice: amountOrNull(quote, 'bid'),
    bidSize: size('bidsize'),
    askPrice: amountOrNull(quote, 'ask'),
    askSize: size('asksize'),
    at: nanosOfMs(latestMs(quote, 'bid_date', 'ask_date', 'trade_date'))
  })
}

/** Shares are given by the hundred, contracts singly. */
export function sized(raw: Decimal | null, isContract: boolean): Decimal | null {
  return raw === null || isContract ? raw : hundreds(raw)
}

/** There are no pages. */
const MINUTES: { readonly [interval: string]: BarsKind } = {
  '1m': { name: '1min', lengthMs: MINUTE_MS, reachMs: 3 * DAY_MS, depthDays: 10 },
  '5m': { name: '5min', lengthMs: 5 * MINUTE_MS, reachMs: 10 * DAY_MS, depthDays: 18 },
  '15m': { name: '15min', lengthMs: 15 * MINUTE_MS, reachMs: 20 * DAY_MS, depthDays: 18 }
}
const DAILY: BarsKind = { name: 'daily', lengthMs: DAY_MS, reachMs: 3_660 * DAY_MS, depthDays: 40_000 }

/** The windows of a request, ascending. @throws BrokerFault `refused` for what Tradier has no value for */
export function barsWindows(request: BarsRequest, presentMs: number): readonly BarsWindow<Resource>[] {
  const kind = request.interval === '1d' ? DAILY : MINUTES[request.interval]
  if (kind === undefined) throw new BrokerFault('refused', `Tradier has no bars of ${request.interval}`)
  return windowsOf(request, kind, presentMs).map(window => windowOf(toTradier(request.symbol), kind, window))
}

function windowOf(symbol: string, { name, lengthMs }: BarsKind, { fromMs, toMs }: Window): BarsWindow<Resource> {
  const isDaily = lengthMs === DAY_MS
  const at = (ms: number) => (isDaily ? dateAtInstant(ms, ZONE) : localMinute(ms))
  // Without the filter a day of a share has its extended hours too.
  const query = { symbol, interval: name, start: at(fromMs), end: at(toMs), session_filter: isDaily ? 'open' : 'all' }
  return {
    resource: 'market',
    request: () => get(isDaily ? '/markets/history' : '/markets/timesales', query),
    also: [400],
    page(reply, presentMs) {
      if (!isSuccess(reply.status)) {
        if (isTooOld(reply)) return { bars: [], next: null }
        throw new BrokerFault('refused', `Tradier answered ${reply.status} ${errorMessageOf(reply)}`.trim())
      }
      const answer = requestedAnswer(reply)
      const bars = isDaily ? days(answer, presentMs) : minutes(answer, lengthMs, presentMs)
      return { bars: bars.filter(({ startMs }) => startMs >= fromMs && startMs < toMs), next: null }
    }
  }
}

const number = of(amount)
const PRICES = record<Omit<Bar, 'startMs' | 'closed'>>({
  ...{ open: number('open'), high: number('high'), low: number('low'), close: number('close'), volume: number('volume') }
})

function minutes(answer: Wire, lengthMs: number, presentMs: number): readonly Bar[] {
  return items(answer, 'series', 'data').map(wire => {
    const startMs = integer(wire, 'timestamp') * 1_000
    return { startMs, ...PRICES(wire), closed: startMs + lengthMs <= presentMs }
  })
}

function days(answer: Wire, presentMs: number): readonly Bar[] {
  const today = dateAtInstant(presentMs, ZONE)
  return items(answer, 'history', 'day').map(wire => {
    const date = day(wire, 'date')
    return { startMs: midnight(date, ZONE), ...PRICES(wire), closed: date < today }
  })
}

/** Whether Tradier says that the window begins before what it keeps: then there are no bars, which is no fault. */
export function isTooOld(reply: HttpReply): boolean {
  return reply.status === 400 && /must be on or after/i.test(errorMessageOf(reply))
}

function localMinute(ms: number): string {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(ms))
    .toZonedDateTimeISO(ZONE)
    .toPlainDateTime()
    .toString({ smallestUnit: 'minute' })
    .replace('T', ' ')
}

/** The expirations, which are sent as dates or, where more is requested, as objects. */
export function parseExpirations(answer: Wire): readonly Day[] {
  const expirations = nestedOf(answer, 'expirations')
  if (expirations === null) return []
  const dates = [...collapsed(expirations, 'date'), ...collapsed(expirations, 'expiration')]
  return dates.map(date => parseDay(typeof date === 'string' ? date : text(nested({ date }, 'date'), 'date', 10), 'expiration'))
}

const RIGHTS = enumCodec({ call: 'C', put: 'P' })
const numberOrNull = of(amountOrNull)
/** Computed by Tradier once an hour. */
const GREEKS = record<Greeks>({
  ...{ delta: numberOrNull('delta'), gamma: numberOrNull('gamma'), theta: numberOrNull('theta') },
  ...{ rho: numberOrNull('rho'), vega: numberOrNull('vega') },
  iv: wire => amountOrNull(wire, 'mid_iv') ?? amountOrNull(wire, 'smv_vol')
})

const PRICES_OF_CONTRACT = record<Omit<Parameters<typeof derived>[0], 'symbol' | 'right' | 'strike' | 'expiration' | 'greeks'>>({
  ...{ bid: numberOrNull('bid'), bidSize: numberOrNull('bidsize'), ask: numberOrNull('ask'), askSize: numberOrNull('asksize') },
  ...{ last: numberOrNull('last'), open: numberOrNull('open'), high: numberOrNull('high'), low: numberOrNull('low') },
  ...{ close: numberOrNull('close'), previousClose: numberOrNull('prevclose'), volume: numberOrNull('volume') }
})

export function parseChain(answer: Wire): readonly ChainEntry[] {
  return items(answer, 'options', 'option').map(wire => {
    const symbol = text(wire, 'symbol', 32)
    if (!isOption(symbol)) throw new Malformed('symbol', 'the symbol of an option', symbol)
    const greeks = nestedOf(wire, 'greeks')
    return derived({
      symbol,
      right: RIGHTS.read(wire, 'option_type'),
      strike: amount(wire, 'strike'),
      expiration: parseDay(text(wire, 'expiration_date', 10), 'expiration_date'),
      ...PRICES_OF_CONTRACT(wire),
      greeks: greeks === null ? null : GREEKS(greeks)
    })
  })
}

/** What has quotes and bars here; funds and contracts of options are left out. */
const SECURITY_TYPES: ReadonlySet<string | null> = new Set(['stock', 'etf', 'index'])

function searchAt(path: string): ListRead<Resource, string, FoundSymbol> {
  return {
    resource: 'market',
    request: q => get(path, { q }),
    page: reply => ({ records: items(requestedAnswer(reply), 'securities', 'security'), next: null }),
    items(securities, _q, { readable }) {
      const { known, leftOut } = readable('instruments', securities, securityOf, 'symbol')
      return { known: known.flatMap(found => found ?? []), leftOut }
    }
  }
}

/** Null for what has no data here, or no symbol of ours. */
export function securityOf(wire: Wire): FoundSymbol | null {
  const symbol = SECURITY_TYPES.has(textOf(wire, 'type')) ? ourSymbol(text(wire, 'symbol', 32)) : null
  if (symbol === null) return null
  return { symbol, instrument: 'STK', name: displayTextOf(wire, 'description'), exchange: textOf(wire, 'exchange') }
}

/** Null for what the API has no symbol for: warrants and units. */
function ourSymbol(written: string): string | null {
  try {
    return formatSymbol(parseSymbol(fromTradier(written), 'STK'))
  } catch (error) {
    if (error instanceof Malformed) return null
    throw error
  }
}
