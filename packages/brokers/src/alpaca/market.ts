/** Alpaca's market data of one login: what is read, in the core's terms, and what is streamed. Readers throw only Malformed. */

import { continuousCalendar, usEquityCalendar, usOptionCalendar } from '@trunkline/core/domain/calendar/index'
import type { Decimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Bar, ChainEntry, Quote, Trade } from '@trunkline/core/domain/market/records'
import { type Day, timestampOfMs, tradingDay } from '@trunkline/core/domain/timestamp'
import type { Instrument } from '@trunkline/core/domain/vocabulary'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { BarsRequest, MarketInstrument, MarketSource, Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { barOfTrades, minutesLacking } from '../kit/bar-of-trades.ts'
import { instrumentCache, TtlCache } from '../kit/bounded-cache.ts'
import { isSuccess } from '../kit/calls.ts'
import { enumCodec, of, record } from '../kit/codec.ts'
import { exact, exactOrNull, nanosOf, symbolIn, utcMsOf } from '../kit/exact-values.ts'
import type { HttpReply, HttpRequest } from '../kit/http.ts'
import { MarketClock } from '../kit/market-clock.ts'
import { calendarFor, type MarketHours } from '../kit/market-hours.ts'
import { derived, midOf } from '../kit/market-values.ts'
import { everyPage, type Paged } from '../kit/pages.ts'
import { day, decimal, field, list, nestedOrNull, object, text, textOrNull, timestamp, type Wire } from '../kit/parse.ts'
import { get } from '../kit/requests.ts'
import { ChainWatches } from '../kit/runtime/chain-watch.ts'
import type { Login } from '../kit/runtime/definition.ts'
import type { IncrementalFeed } from '../kit/runtime/incremental-feed.ts'
import { type BarsPage, demandWindow, pagedBars } from '../kit/runtime/paged-bars.ts'
import { ASSET_CLASSES } from './codecs.ts'
import { isItem, JSON_FRAMES, marketFeed, tradeOf } from './market-stream.ts'
import { isUnknownInstrument, MESSAGE_PACK_FRAMES, type Resource, readRecord } from './quirks.ts'
import { instrumentOf, pairOf, rootOf } from './symbols.ts'

/** What the market data needs of the settings. */
export interface MarketSettings {
  /** `wss:`; below it the streams of each kind of instrument. */
  readonly dataStreamUrl: string
  readonly stockFeed: 'iex' | 'sip'
  readonly optionFeed: 'indicative' | 'opra'
  /** Alpaca's streams are silent while nothing happens: a ping this often, and two without an answer mean a dead connection. */
  readonly pingMs: number
  /** When its markets are open: those of the exchanges, but for a sandbox. */
  readonly hours: MarketHours
}

/** Pages of a list; beyond it the list is a fault, never cut short. More minutes than a year has. */
const PAGES_MAX = 100
export const PAGE = 10_000
/** A minute that is over is in the history by then. */
const PUBLISHED_MS = 5_000
const EXPIRATIONS_MS = 600_000
const UNDERLYINGS_MAX = 1_000
/** Alpaca streams two hundred quotes to the smallest plan. */
const STREAMED_OF_CHAIN = 80

const CALENDARS = {
  STK: usEquityCalendar(),
  OPT: usOptionCalendar(),
  // A crypto pair's day begins at midnight in Chicago: its daily bars were recorded at 05:00Z in summer (2024-11-01).
  CRYPTO: continuousCalendar('America/Chicago')
} as const

type Streamed = keyof typeof CALENDARS
type MarketLogin = Pick<Login<Resource>, 'calls' | 'tokens' | 'socket' | 'clock' | 'log'>

export class AlpacaMarket implements MarketSource, AsyncDisposable {
  readonly #settings: MarketSettings
  readonly #login: MarketLogin
  readonly #marketClock: MarketClock
  readonly #instruments: ReturnType<typeof instrumentCache>
  readonly #expirations: TtlCache<readonly Day[]>
  readonly #feeds: { readonly [instrument in Streamed]: IncrementalFeed }
  readonly #chains: ChainWatches<Contract, Wire>

  /** `hello`: the first message of a stream. */
  constructor(settings: MarketSettings, login: MarketLogin, hello: (token: string) => object) {
    const { clock } = login
    const { stockFeed, optionFeed, dataStreamUrl, pingMs } = settings
    this.#settings = settings
    this.#login = login
    this.#marketClock = new MarketClock(clock)
    this.#instruments = instrumentCache(clock)
    this.#expirations = new TtlCache({ clock, max: UNDERLYINGS_MAX, forMs: EXPIRATIONS_MS })
    const isKnown = async (symbol: string, signal: AbortSignal) => (await this.instrument(symbol, signal)) !== null
    const feed = (path: string, frames: typeof JSON_FRAMES, quotes: (symbols: string) => HttpRequest) =>
      marketFeed({ url: `${dataStreamUrl}${path}`, pingMs, frames, hello, quotes, isKnown, marketClock: this.#marketClock }, login)
    this.#feeds = {
      STK: feed(`/v2/${stockFeed}`, JSON_FRAMES, symbols => get(`${rootOf('STK')}/quotes/latest`, { symbols, feed: stockFeed })),
      CRYPTO: feed(rootOf('CRYPTO'), JSON_FRAMES, symbols => get(`${rootOf('CRYPTO')}/latest/quotes`, { symbols })),
      OPT: feed(`/v1beta1/${optionFeed}`, MESSAGE_PACK_FRAMES, symbols =>
        get(`${rootOf('OPT')}/quotes/latest`, { symbols, feed: optionFeed })
      )
    }
    this.#chains = new ChainWatches({
      ...{ broker: 'Alpaca', streamedMax: STREAMED_OF_CHAIN, clock, fraction: login.socket.fraction, presentMs: () => this.presentMs() },
      contracts: (underlying, expiration, signal) => this.#contracts(underlying, expiration, signal),
      snapshots: (underlying, expiration, signal) => this.#snapshots(underlying, expiration, signal),
      ...{ entryOf: chainEntry, withQuote },
      quotes: (symbol, sink) => this.#feeds.OPT.stream({ channel: 'quotes', symbol }, sink, { isOfChain: true })
    })
  }

  presentMs(): number {
    return this.#marketClock.nowMs()
  }

  async instrument(symbol: string, signal: AbortSignal): Promise<MarketInstrument | null> {
    const known = this.#instruments.get(symbol)
    if (known !== undefined) return known
    const calls = this.#login.calls.of('trading')
    const path = instrumentOf(symbol) === 'OPT' ? '/v2/options/contracts' : '/v2/assets'
    const request = get(`${path}/${encodeURIComponent(symbol)}`)
    const read = (reply: HttpReply) => instrumentIn(reply, symbol, this.#settings.hours)
    const sync = (reply: HttpReply) => this.#marketClock.sync(Date.parse(timestamp(readRecord(reply), 'timestamp')))
    const [found] = await Promise.all([
      calls.read(request, read, signal, { also: [400, 404, 422] }),
      calls.read(get('/v2/clock'), sync, signal)
    ])
    this.#instruments.put(symbol, found)
    return found
  }

  async *bars(request: BarsRequest, signal: AbortSignal): AsyncGenerator<readonly Bar[], void, undefined> {
    const { symbol, interval, fromMs, toMs } = request
    const known = await this.instrument(symbol, signal)
    if (known === null) throw new BrokerFault('refused', `Alpaca knows no symbol ${symbol}`)
    const frame = frameOf(request)
    if (fromMs === toMs) return
    let lastMs = Number.NEGATIVE_INFINITY
    const read = (cursor: string | null) => {
      const closedBeforeMs = this.presentMs() - frame.ms
      const requested = this.#barsRequest(request, known.instrument, frame.name, cursor)
      return this.#login.calls.of('data').read(requested, reply => parseBarsPage(reply, symbol, closedBeforeMs), signal)
    }
    for await (const bars of pagedBars(PAGES_MAX, read)) {
      lastMs = bars.at(-1)?.startMs ?? lastMs
      yield bars
    }
    const rest = interval === '1m' ? await this.#underWay(request, known.instrument, lastMs, signal) : []
    if (rest.length > 0) yield rest
  }

  async expirations(underlying: string, signal: AbortSignal): Promise<readonly Day[]> {
    if (instrumentOf(underlying) !== 'STK') return []
    const known = this.#expirations.get(underlying)
    if (known !== undefined) return known
    const from = tradingDay(timestampOfMs(this.presentMs()))
    // One side of all from a day on is enough to see the days. Alpaca's own default leaves out all but the nearest.
    const query = { expiration_date_gte: from, expiration_date_lte: '9999-12-31', type: 'call' }
    const contracts = await this.#every('trading', next => contractsRequest(underlying, query, next), parseContracts, signal)
    const days = [...new Set(contracts.map(({ expiration }) => expiration))].toSorted()
    this.#expirations.put(underlying, days)
    return days
  }

  async chain(underlying: string, expiration: Day, signal: AbortSignal): Promise<readonly ChainEntry[]> {
    if (instrumentOf(underlying) !== 'STK') return []
    const contracts = await this.#contracts(underlying, expiration, signal)
    const market = contracts.length === 0 ? null : await this.#snapshots(underlying, expiration, signal)
    const presentMs = this.presentMs()
    return contracts.map(contract => chainEntry(contract, market?.get(contract.symbol) ?? null, presentMs))
  }

  search(): Promise<never> {
    return Promise.reject(new BrokerFault('refused', 'Alpaca has no search for symbols'))
  }

  stream(topic: Topic, sink: TopicSink): TopicLease {
    if (topic.channel === 'options_chain') return this.#chains.stream(topic, sink)
    const instrument = instrumentOf(topic.symbol)
    // An unknown symbol is looked up among the shares.
    return this.#feeds[instrument === 'CRYPTO' || instrument === 'OPT' ? instrument : 'STK'].stream(topic, sink)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...Object.values(this.#feeds), this.#chains].map(part => part[Symbol.asyncDispose]()))
  }

  #barsRequest({ symbol, fromMs, toMs }: BarsRequest, instrument: Instrument, timeframe: string, cursor: string | null): HttpRequest {
    return get(`${rootOf(instrument)}/bars`, {
      ...{ symbols: symbol, timeframe, start: timestampOfMs(fromMs), limit: String(PAGE), sort: 'asc', page_token: cursor },
      // Alpaca includes the end.
      end: timestampOfMs(Math.max(fromMs, toMs - 1)),
      // Prices before a split are those of today's shares, so that a chart has no cliff.
      adjustment: instrument === 'STK' ? 'split' : null,
      feed: this.#shareFeed(instrument)
    })
  }

  #shareFeed(instrument: Instrument): string | null {
    return instrument === 'STK' ? this.#settings.stockFeed : null
  }

  /** The minutes that the history does not have yet, of their trades. */
  async #underWay(request: BarsRequest, instrument: Instrument, lastMs: number, signal: AbortSignal): Promise<readonly Bar[]> {
    // What ends while the answer is on its way is not known to its end.
    const presentMs = this.presentMs()
    const minutes = minutesLacking(request, { lastMs, presentMs, publishedMs: PUBLISHED_MS })
    const [fromMs] = minutes
    if (fromMs === undefined) return []
    const { symbol } = request
    const query = { symbols: symbol, start: timestampOfMs(fromMs), limit: String(PAGE), sort: 'asc', feed: this.#shareFeed(instrument) }
    const page = (next: string | null) => get(`${rootOf(instrument)}/trades`, { ...query, page_token: next })
    const trades = await this.#every('data', page, reply => parseTrades(reply, symbol), signal)
    return minutes.flatMap(startMs => barOfTrades(trades, startMs, presentMs) ?? [])
  }

  async #contracts(underlying: string, expiration: Day, signal: AbortSignal): Promise<readonly Contract[]> {
    const request = (next: string | null) => contractsRequest(underlying, { expiration_date: expiration }, next)
    const found = await this.#every('trading', request, parseContracts, signal)
    // What is known from a list need not be requested.
    const calendar = calendarFor(this.#settings.hours, CALENDARS.OPT)
    for (const { symbol } of found) this.#instruments.put(symbol, { symbol, instrument: 'OPT', calendar })
    return found
  }

  /** The market of each contract that has one, by its symbol. */
  async #snapshots(underlying: string, expiration: Day, signal: AbortSignal): Promise<ReadonlyMap<string, Wire>> {
    const query = { feed: this.#settings.optionFeed, expiration_date: expiration, limit: '1000' }
    const path = `/v1beta1/options/snapshots/${encodeURIComponent(underlying)}`
    return new Map(await this.#every('data', next => get(path, { ...query, page_token: next }), parseSnapshots, signal))
  }

  /** Every page or a fault. */
  async #every<T>(
    resource: Resource,
    request: (next: string | null) => HttpRequest,
    parse: (reply: HttpReply) => Page<T>,
    signal: AbortSignal
  ): Promise<readonly T[]> {
    const calls = this.#login.calls.of(resource)
    const all = await everyPage(PAGES_MAX, next => calls.read(request(next), parse, signal))
    return all.flatMap(({ items }) => items)
  }
}

interface Page<T> extends Paged {
  readonly items: readonly T[]
}

function pageOf<T>(answer: Wire, items: readonly T[]): Page<T> {
  return { items, next: textOrNull(answer, 'next_page_token') }
}

function instrumentIn(reply: HttpReply, requested: string, hours: MarketHours): MarketInstrument | null {
  if (isSuccess(reply.status)) return parseInstrument(readRecord(reply), requested, hours)
  if (isUnknownInstrument(reply)) return null
  throw new BrokerFault('refused', 'the symbol could not be requested from Alpaca')
}

/** An asset, or a contract, which has no class. */
function parseInstrument(wire: Wire, requested: string, hours: MarketHours): MarketInstrument {
  const instrument = instrumentOf(requested) === 'OPT' ? 'OPT' : ASSET_CLASSES.read(wire, 'class')
  const written = text(wire, 'symbol')
  const symbol = instrument === 'CRYPTO' ? pairOf(written) : written
  if (symbol !== requested) throw new Malformed('symbol', `the requested one, ${requested}`, symbol)
  // Crypto never closes, at the exchange's hours or without any.
  return { symbol, instrument, calendar: instrument === 'CRYPTO' ? CALENDARS.CRYPTO : calendarFor(hours, CALENDARS[instrument]) }
}

const TIMEFRAMES: Readonly<Record<string, { readonly name: string; readonly ms: number }>> = {
  '1m': { name: '1Min', ms: 60_000 },
  '5m': { name: '5Min', ms: 300_000 },
  '15m': { name: '15Min', ms: 900_000 },
  '30m': { name: '30Min', ms: 1_800_000 },
  '1h': { name: '1Hour', ms: 3_600_000 },
  '1d': { name: '1Day', ms: 86_400_000 }
}

/** @throws BrokerFault `refused` for times and intervals that Alpaca has no text for */
function frameOf(request: BarsRequest): { readonly name: string; readonly ms: number } {
  const frame = TIMEFRAMES[request.interval]
  if (frame === undefined)
    throw new BrokerFault('refused', `Alpaca has bars of ${Object.keys(TIMEFRAMES).join(', ')}, not of ${request.interval}`)
  demandWindow(request)
  return frame
}

/** A page has thousands of bars. Those that begin after `closedBeforeMs` may still change. */
export function parseBarsPage(reply: Pick<HttpReply, 'body'>, symbol: string, closedBeforeMs: number): BarsPage {
  const answer = readRecord(reply)
  const bars = itemsOf(answer, 'bars', symbol).map((item): Bar => {
    const startMs = utcMsOf(item.t, 't')
    return {
      startMs,
      open: exact(item.o, 'o'),
      high: exact(item.h, 'h'),
      low: exact(item.l, 'l'),
      close: exact(item.c, 'c'),
      volume: exact(item.v, 'v'),
      closed: startMs <= closedBeforeMs
    }
  })
  return { bars, next: textOrNull(answer, 'next_page_token') }
}

export function parseTrades(reply: Pick<HttpReply, 'body'>, symbol: string): Page<Trade> {
  const answer = readRecord(reply)
  return pageOf(answer, itemsOf(answer, 'trades', symbol).map(tradeOf))
}

/** The records of a symbol, in an answer that has them by symbol; none where there are none. */
function itemsOf(answer: Wire, key: string, symbol: string): readonly { readonly [field: string]: unknown }[] {
  const bySymbol = nestedOrNull(answer, key)
  const found = (bySymbol === null ? null : field(bySymbol, symbol)) ?? []
  if (Array.isArray(found) && found.length <= PAGE && found.every(isItem)) return found
  throw new Malformed(key, `a list of at most ${PAGE} objects`, found)
}

export interface Contract {
  readonly symbol: string
  readonly right: 'C' | 'P'
  readonly strike: Decimal
  readonly expiration: Day
}

function contractsRequest(underlying: string, days: Parameters<typeof get>[1], next: string | null): HttpRequest {
  return get('/v2/options/contracts', { underlying_symbols: underlying, status: 'active', ...days, limit: '5000', page_token: next })
}

const RIGHTS = enumCodec({ call: 'C', put: 'P' })
const CONTRACT = record<Contract>({
  symbol: wire => symbolIn(text(wire, 'symbol'), 'symbol'),
  right: wire => RIGHTS.read(wire, 'type'),
  strike: of(decimal)('strike_price'),
  expiration: of(day)('expiration_date')
})

export function parseContracts(reply: Pick<HttpReply, 'body'>): Page<Contract> {
  const answer = readRecord(reply)
  return pageOf(answer, list(answer, 'option_contracts', CONTRACT))
}

/** Each contract's market by its symbol, as it came. */
export function parseSnapshots(reply: Pick<HttpReply, 'body'>): Page<readonly [string, Wire]> {
  const answer = readRecord(reply)
  const snapshots = Object.entries(nestedOrNull(answer, 'snapshots') ?? {})
  return pageOf(
    answer,
    snapshots.map(([symbol, wire]) => [symbol, object(wire, symbol)] as const)
  )
}

/** A contract and its market; without one all of it is unknown. */
export function chainEntry(contract: Contract, snapshot: Wire | null, presentMs: number): ChainEntry {
  const part = (key: string) => (snapshot === null ? null : nestedOrNull(snapshot, key))
  const [quote, today, greeks] = [part('latestQuote'), todays(part('dailyBar'), presentMs), part('greeks')]
  const [bid, ask, iv] = [price(quote, 'bp'), price(quote, 'ap'), number(snapshot, 'impliedVolatility')]
  return derived({
    ...contract,
    ...{ bid, ask, bidSize: bid === null ? null : number(quote, 'bs'), askSize: ask === null ? null : number(quote, 'as') },
    last: price(part('latestTrade'), 'p'),
    previousClose: price(part('prevDailyBar'), 'c'),
    ...{ open: price(today, 'o'), high: price(today, 'h'), low: price(today, 'l'), volume: number(today, 'v') },
    // Alpaca does not say whether the day is over.
    close: null,
    greeks:
      greeks === null && iv === null
        ? null
        : {
            ...{ delta: number(greeks, 'delta'), gamma: number(greeks, 'gamma'), theta: number(greeks, 'theta') },
            ...{ rho: number(greeks, 'rho'), vega: number(greeks, 'vega'), iv }
          }
  })
}

/** The entry with a quote of the stream, unless the snapshot's own is newer. */
function withQuote(entry: ChainEntry, quote: Quote, snapshot: Wire | null): ChainEntry {
  const own = snapshot === null ? null : nestedOrNull(snapshot, 'latestQuote')
  if (own !== null && BigInt(nanosOf(field(own, 't'), 't')) > BigInt(quote.at)) return entry
  const { bidPrice: bid, bidSize, askPrice: ask, askSize } = quote
  return { ...entry, bid, bidSize, ask, askSize, mid: midOf(bid, ask) }
}

/** A contract that has not traded today still shows its last day's bar. */
function todays(bar: Wire | null, presentMs: number): Wire | null {
  if (bar === null) return null
  const dayOf = (ms: number) => tradingDay(timestampOfMs(ms))
  return dayOf(utcMsOf(field(bar, 't'), 't')) === dayOf(presentMs) ? bar : null
}

function number(wire: Wire | null, key: string): Decimal | null {
  return wire === null ? null : exactOrNull(field(wire, key), key)
}

/** A price of nothing is none. */
function price(wire: Wire | null, key: string): Decimal | null {
  const value = number(wire, key)
  return value === null || Number(value) === 0 ? null : value
}
