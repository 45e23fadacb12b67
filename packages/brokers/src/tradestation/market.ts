/**
 * TradeStation's market data of one login: what is read, its streams, and the records in the core's terms. Readers throw only Malformed.
 */

import {
  cmeCalendar,
  continuousCalendar,
  midnight,
  type TradingCalendar,
  usEquityCalendar,
  usOptionCalendar
} from '@trunkline/core/domain/calendar/index'
import { type Decimal, isDecimal } from '@trunkline/core/domain/decimal'
import { percentage } from '@trunkline/core/domain/fast/small-sums'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Bar, ChainEntry, Depth, DepthLevel, Greeks } from '@trunkline/core/domain/market/records'
import { parseSymbol } from '@trunkline/core/domain/symbol'
import { type Day, parseDay, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Instrument } from '@trunkline/core/domain/vocabulary'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { BarsRequest, MarketInstrument } from '@trunkline/core/ports/market'
import { isSuccess } from '../kit/calls.ts'
import { type FieldReader, of, record } from '../kit/codec.ts'
import { nanosOf, utcMsOf } from '../kit/exact-values.ts'
import { brokerNowMs, type HttpReply, type HttpRequest } from '../kit/http.ts'
import { readObject } from '../kit/json.ts'
import { calendarFor, type MarketHours } from '../kit/market-hours.ts'
import { decimal, field, list, lookUp, member, text, type Wire } from '../kit/parse.ts'
import { get } from '../kit/requests.ts'
import type { OpenLogin } from '../kit/runtime/definition.ts'
import type { ListPage, ListRead } from '../kit/runtime/read-definitions.ts'
import { whole } from '../kit/runtime/reads.ts'
import type { BarsWindow, ChainQuery, MarketDefinition, MarketStreams } from '../kit/runtime/rest-market.ts'
import { wholeChain } from '../kit/runtime/whole-chain.ts'
import { type BarsKind, TIME_MAX, type Window, windowsOf } from '../kit/time-windows.ts'
import { amount, clockOf, errorOf, errorsOf, isError, isPassing, type Resource, records } from './quirks.ts'
import { brokerSymbol, ourSymbol } from './symbols.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Requests that one window of bars may take: more minutes than a year has. */
const REQUESTS_MAX = 100

/** What is streamed. */
export interface ChainStreams extends MarketStreams {
  /** @throws BrokerFault `unreachable` while as many chains are streamed as the broker allows */
  demandChainCapacity(): void
}

export function tradestationMarket(
  hours: MarketHours,
  streams: ChainStreams,
  { reads }: Pick<OpenLogin<Resource>, 'reads'>
): MarketDefinition<Resource> {
  return {
    broker: 'TradeStation',
    mayHave: symbol => spelling(symbol) !== null,
    instrument: marketRead(
      'symbols',
      symbol => get(`/marketdata/symbols/${encodeURIComponent(brokerSymbol(symbol))}`),
      (answer, symbol) => instrumentsIn(answer, symbol, hours)
    ),
    bars: { windows: (request, known, presentMs) => barsOf(request, known, hours, presentMs) },
    expirations: marketRead(
      'options',
      underlying => get(`/marketdata/options/expirations/${encodeURIComponent(brokerSymbol(underlying))}`),
      listedBy(parseExpirations)
    ),
    async chain(query, signal) {
      const strikes = await reads.list(STRIKES, query, signal)
      streams.demandChainCapacity()
      const topic = { channel: 'options_chain', symbol: query.underlying, expiration: query.expiration } as const
      return await wholeChain(strikes.known, sink => streams.stream(topic, sink), signal)
    },
    searches: [],
    streams
  }
}

/** A read about one symbol. */
function marketRead<Query, T>(
  resource: Resource,
  request: (query: Query) => HttpRequest,
  parse: (answer: Wire, query: Query) => readonly T[]
): ListRead<Resource, Query, T> {
  const items = (answers: readonly Wire[], query: Query) => whole(answers.flatMap(answer => parse(answer, query)))
  return { resource, request, page: aboutSymbol, also: [400, 404], items }
}

/** What the broker has of a symbol; nothing where it says that there is no such symbol. @throws BrokerFault; Malformed */
function aboutSymbol(reply: HttpReply): ListPage {
  const page = { next: null, ...clockOf(reply) }
  const answer = readObject(reply.body)
  if (isSuccess(reply.status)) return { ...page, records: [answer] }
  const { code, message } = errorOf(answer)
  return code === 'NotFound' || /symbol/i.test(message) ? { ...page, records: [] } : refuse(answer)
}

const STRIKES = marketRead(
  'options',
  ({ underlying, expiration }: ChainQuery) =>
    get(`/marketdata/options/strikes/${encodeURIComponent(brokerSymbol(underlying))}`, {
      spreadType: 'Single',
      expiration: monthFirst(expiration)
    }),
  listedBy(parseStrikes)
)

/** @throws BrokerFault `refused` */
function barsOf(request: BarsRequest, known: MarketInstrument, hours: MarketHours, presentMs: number): readonly BarsWindow<Resource>[] {
  const { symbol, interval } = request
  const kind = lookUp(INTERVALS, interval)
  if (kind === undefined) throw new BrokerFault('refused', `the broker has no bars of ${interval}`)
  // The broker has no pages.
  const windows = windowsOf(request, kind, presentMs)
  if (windows.length > REQUESTS_MAX)
    throw new BrokerFault('refused', `the bars take more than ${REQUESTS_MAX} requests; request a shorter time`)
  const [written, template] = [brokerSymbol(symbol, known.instrument), templateOf(kind, known.instrument, hours)]
  return windows.map(window => ({
    resource: 'bars',
    request: () => barsRequest(written, kind, template, window),
    also: [400, 404],
    page: reply => {
      const answer = readObject(reply.body)
      if (!isSuccess(reply.status) || isError(answer)) refuse(answer)
      return { bars: parseBars(answer, kind, known.calendar, window), next: null, clockMs: brokerNowMs(reply) }
    }
  }))
}

/** The broker's spelling; null for a symbol that it cannot have. */
export function spelling(symbol: string): string | null {
  try {
    return brokerSymbol(symbol)
  } catch {
    return null
  }
}

/** @throws BrokerFault */
function refuse(answer: Wire): never {
  const error = errorOf(answer)
  throw new BrokerFault(isPassing(error) ? 'unreachable' : 'refused', `the broker refused: ${error.message}`)
}

/** What is listed of an underlying's options; nothing where the broker knows none. */
function listedBy<T>(parse: (answer: Wire) => readonly T[]): (answer: Wire) => readonly T[] {
  return answer => (isError(answer) ? [] : parse(answer))
}

const SHARES = { instrument: 'STK', calendar: usEquityCalendar() } as const
/** By `AssetType` in capitals. The broker does not say when it trades what: these are the hours of the exchanges. */
const ASSET_CLASSES: Readonly<Record<string, { readonly instrument: Instrument; readonly calendar: TradingCalendar }>> = {
  STOCK: SHARES,
  INDEX: SHARES,
  STOCKOPTION: { instrument: 'OPT', calendar: usOptionCalendar() },
  INDEXOPTION: { instrument: 'OPT', calendar: usOptionCalendar('index') },
  FUTURE: { instrument: 'FUT', calendar: cmeCalendar() },
  CRYPTO: { instrument: 'CRYPTO', calendar: continuousCalendar() }
}

/** Null for a class that has no market data here. @throws Malformed */
export function parseInstrument(wire: Wire, symbol: string, hours: MarketHours): MarketInstrument | null {
  const found = lookUp(ASSET_CLASSES, text(wire, 'AssetType', 32).toUpperCase())
  if (found === undefined) return null
  const { instrument, calendar } = found
  return { symbol, instrument, calendar: instrument === 'CRYPTO' ? calendar : calendarFor(hours, calendar) }
}

/** Nothing for a symbol that the broker does not know. @throws BrokerFault; Malformed */
function instrumentsIn(answer: Wire, symbol: string, hours: MarketHours): readonly MarketInstrument[] {
  const [found] = records(answer, 'Symbols')
  if (found !== undefined) return [parseInstrument(found, symbol, hours) ?? []].flat()
  const [error] = errorsOf(answer)
  if (error === undefined) throw new Malformed('Symbols', 'the requested symbol, or an error', answer)
  if (isPassing(error)) throw new BrokerFault('unreachable', `the broker could not look the symbol up: ${error.message}`)
  return []
}

/**
 * Whether the broker stamps its bars with their end or their start. Its documentation shows ends, and daily bars carry the time of the
 * close; a program in production at the broker reads them as starts. It cannot be settled from outside, so it is one constant here.
 */
const STAMPED: 'end' | 'start' = 'end'
/**
 * Session templates of shares extend the core hours: this one has every hour of the exchange calendar, from which sessions are cut here.
 * The template of all 24 hours would bring bars while the calendar says closed.
 */
const SESSION_TEMPLATES: { readonly [hours in MarketHours]: string } = { exchange: 'USEQPreAndPost', always: 'USEQ24Hour' }
/** A request may have 57,600 bars, or three years of days; a fifth of that is an answer of a few megabytes. */
const BARS_A_REQUEST = 7_200
const DAYS_A_REQUEST = 1_000

const kindOf = (name: 'Minute' | 'Daily', lengthMs: number, count: number): BarsKind => ({
  ...{ name, lengthMs, reachMs: lengthMs * count, depthDays: Number.POSITIVE_INFINITY }
})
const minutes = (length: number) => kindOf('Minute', length * MINUTE_MS, BARS_A_REQUEST)
/** The core's names of the intervals that the broker has. Days are of one length only here. */
export const INTERVALS = {
  ...{ '1m': minutes(1), '5m': minutes(5), '15m': minutes(15), '30m': minutes(30), '1h': minutes(60) },
  '1d': kindOf('Daily', DAY_MS, DAYS_A_REQUEST)
} as const satisfies Readonly<Record<string, BarsKind>>

/** All bars with a start in the window, and perhaps one more on either side. `symbol` is the broker's. */
export function barsRequest(symbol: string, kind: BarsKind, sessiontemplate: string | null, { fromMs, toMs }: Window): HttpRequest {
  const { name: unit, lengthMs } = kind
  const at = (time: number) => timestampOfMs(time).replace('.000000Z', 'Z')
  const times = { firstdate: at(fromMs), lastdate: at(Math.min(toMs + lengthMs, TIME_MAX)), sessiontemplate }
  const interval = kind === INTERVALS['1d'] ? '1' : String(lengthMs / MINUTE_MS)
  return get(`/marketdata/barcharts/${encodeURIComponent(symbol)}`, { interval, unit, ...times })
}

/** Of minutes of shares; null for everything else. */
export function templateOf(kind: BarsKind, instrument: Instrument, hours: MarketHours): string | null {
  return kind !== INTERVALS['1d'] && instrument === 'STK' ? SESSION_TEMPLATES[hours] : null
}

/** Bars with a start in the window, ascending. @throws Malformed also for bars that do not ascend. */
export function parseBars(answer: Wire, kind: BarsKind, calendar: TradingCalendar, { fromMs, toMs }: Window): readonly Bar[] {
  const bars: Bar[] = []
  let lastMs = Number.NEGATIVE_INFINITY
  for (const wire of records(answer, 'Bars')) {
    const bar = parseBar(wire, kind, calendar)
    if (bar.startMs <= lastMs) throw new Malformed('TimeStamp', 'later than that of the bar before', text(wire, 'TimeStamp', 40))
    lastMs = bar.startMs
    if (bar.startMs >= fromMs && bar.startMs < toMs) bars.push(bar)
  }
  return bars
}

/** `calendar` is that of days. @throws Malformed */
export function parseBar(wire: Wire, kind: BarsKind, calendar: TradingCalendar): Bar {
  const stampMs = utcMsOf(field(wire, 'TimeStamp'), 'TimeStamp')
  const startMs = kind === INTERVALS['1d'] ? dayStart(stampMs, calendar) : STAMPED === 'end' ? stampMs - kind.lengthMs : stampMs
  return {
    ...{ startMs, open: decimal(wire, 'Open'), high: decimal(wire, 'High'), low: decimal(wire, 'Low'), close: decimal(wire, 'Close') },
    volume: decimal(wire, 'TotalVolume'),
    closed: member(wire, 'BarStatus', { Open: false, Closed: true })
  }
}

/** A day begins at its midnight, whenever its market opens; its stamp is some time of that day, or the midnight after it. */
function dayStart(stampMs: number, calendar: TradingCalendar): number {
  return midnight(calendar.dateAt(STAMPED === 'end' ? stampMs - 1 : stampMs), calendar.zone)
}

/** The broker writes them as times, of which the day counts. @throws Malformed */
export function parseExpirations(answer: Wire): readonly Day[] {
  return list(answer, 'Expirations', wire => parseDay(text(wire, 'Date', 40).slice(0, 10), 'Date'))
}

/** Each once. The broker has a list for every combination, of its legs' strikes. @throws Malformed */
export function parseStrikes(answer: Wire): readonly Decimal[] {
  const combinations = field(answer, 'Strikes')
  if (!Array.isArray(combinations)) throw new Malformed('Strikes', 'a list', combinations)
  return combinations.map((strikes: unknown) => {
    const [strike, ...others] = strikesIn(strikes)
    if (isDecimal(strike) && others.length === 0) return strike
    throw new Malformed('Strikes', 'one strike each, a plain decimal', strikes)
  })
}

function strikesIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function monthFirst(day: Day): string {
  const [year, month, date] = day.split('-')
  return `${month}-${date}-${year}`
}

const amountIn = of(amount)
const PRICES = record<Omit<ChainEntry, 'symbol' | 'right' | 'strike' | 'expiration' | 'greeks' | 'netChangePct'>>({
  ...{ bid: amountIn('Bid'), bidSize: amountIn('BidSize'), ask: amountIn('Ask'), askSize: amountIn('AskSize'), mid: amountIn('Mid') },
  ...{ last: amountIn('Last'), open: amountIn('Open'), high: amountIn('High'), low: amountIn('Low'), close: amountIn('Close') },
  ...{ previousClose: amountIn('PreviousClose'), netChange: amountIn('NetChange'), volume: amountIn('Volume') }
})

/** What a model gives may be no number at all, or one with an exponent: then it is not known. */
function computed(key: string): FieldReader<Decimal | null> {
  return wire => {
    const value = field(wire, key)
    return isDecimal(value) ? value : null
  }
}

const GREEKS = record<Greeks>({
  ...{ delta: computed('Delta'), gamma: computed('Gamma'), theta: computed('Theta') },
  ...{ rho: computed('Rho'), vega: computed('Vega'), iv: computed('ImpliedVolatility') }
})

/** Null for a contract of another expiration than requested. @throws Malformed */
export function parseEntry(wire: Wire, expiration: Day): ChainEntry | null {
  const [leg, ...others] = list(wire, 'Legs', each => each)
  if (leg === undefined || others.length > 0) throw new Malformed('Legs', 'one contract', field(wire, 'Legs'))
  const symbol = ourSymbol(text(leg, 'Symbol', 64), 'OPT')
  const parts = parseSymbol(symbol, 'OPT')
  if (parts.instrument !== 'OPT' || parts.expiration !== expiration) return null
  const prices = PRICES(wire)
  const { netChange, previousClose } = prices
  const greeks = GREEKS(wire)
  return {
    ...{ symbol, right: parts.right, expiration, ...prices },
    strike: amount(leg, 'StrikePrice') ?? decimal({ StrikePrice: strikesIn(field(wire, 'Strikes'))[0] }, 'StrikePrice'),
    // The broker's own is in per cent in one place and a fraction in another.
    netChangePct: netChange === null || previousClose === null ? null : percentage(netChange, previousClose),
    greeks: Object.values(greeks).every(value => value === null) ? null : greeks
  }
}

export const LEVELS_MAX = 10
const LEVEL = record<DepthLevel>({
  price: of(decimal)('Price'),
  size: of(decimal)('TotalSize'),
  orders: amountIn('TotalOrderCount'),
  // A level is the sum of several participants, whom it does not name.
  venue: () => '',
  at: wire => nanosOf(field(wire, 'LatestTime'), 'LatestTime')
})

/** Every record is a full book. @throws Malformed */
export function parseDepth(wire: Wire): Depth {
  return { bids: list(wire, 'Bids', LEVEL).slice(0, LEVELS_MAX), asks: list(wire, 'Asks', LEVEL).slice(0, LEVELS_MAX) }
}
