/** Alpaca's market data of one login: what is read, in the core's terms, and what is streamed. Readers throw only Malformed. */

import { continuousCalendar, usEquityCalendar, usOptionCalendar } from '@trunkline/core/domain/calendar/index'
import type { Decimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Bar, ChainEntry, Quote, Trade } from '@trunkline/core/domain/market/records'
import { type Day, timestampOfMs, tradingDay } from '@trunkline/core/domain/timestamp'
import type { Instrument } from '@trunkline/core/domain/vocabulary'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { BarsRequest, MarketInstrument } from '@trunkline/core/ports/market'
import { barOfTrades, minutesLacking } from '../kit/bar-of-trades.ts'
import { isSuccess } from '../kit/calls.ts'
import { enumCodec, of, record } from '../kit/codec.ts'
import { exact, exactOrNull, nanosOf, symbolIn, utcMsOf } from '../kit/exact-values.ts'
import { MESSAGE_PACK_FRAMES } from '../kit/frame-codec.ts'
import type { HttpReply } from '../kit/http.ts'
import { calendarFor, type MarketHours } from '../kit/market-hours.ts'
import { derived, midOf } from '../kit/market-values.ts'
import { day, decimal, field, list, nestedOrNull, object, text, textOrNull, timestamp, type Wire } from '../kit/parse.ts'
import { get } from '../kit/requests.ts'
import { ChainWatches } from '../kit/runtime/chain-watch.ts'
import type { OpenLogin } from '../kit/runtime/definition.ts'
import type { ListPage, ListRead } from '../kit/runtime/read-definitions.ts'
import { whole } from '../kit/runtime/reads.ts'
import type { BarsPage, BarsWindow, ChainQuery, MarketDefinition, MarketStreams, RestMarket } from '../kit/runtime/rest-market.ts'
import { demandWindow } from '../kit/time-windows.ts'
import { ASSET_CLASSES } from './codecs.ts'
import { isItem, JSON_FRAMES, marketFeed, tradeOf } from './market-stream.ts'
import { isUnknownInstrument, type Resource, readRecord } from './quirks.ts'
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
/** Alpaca streams two hundred quotes to the smallest plan. */
const STREAMED_OF_CHAIN = 80

const CALENDARS = {
  STK: usEquityCalendar(),
  OPT: usOptionCalendar(),
  // A crypto pair's day begins at midnight in Chicago: its daily bars were recorded at 05:00Z in summer (2024-11-01).
  CRYPTO: continuousCalendar('America/Chicago')
} as const

type MarketLogin = Pick<OpenLogin<Resource>, 'calls' | 'reads' | 'tokens' | 'socket' | 'clock' | 'log'>

/** `hello`: the first message of a stream. */
export function alpacaMarket(
  settings: MarketSettings,
  login: MarketLogin,
  hello: (token: string) => object,
  market: RestMarket<Resource>
): MarketDefinition<Resource> {
  const { stockFeed, optionFeed, hours } = settings
  const shareFeed = (instrument: Instrument) => (instrument === 'STK' ? stockFeed : null)
  const chains: ChainReads = {
    async contracts({ underlying, expiration }, signal) {
      const { known } = await login.reads.list(CONTRACTS, { underlying, expiration_date: expiration }, signal)
      const calendar = calendarFor(hours, CALENDARS.OPT)
      for (const { symbol } of known) market.remember({ symbol, instrument: 'OPT', calendar })
      return known
    },
    snapshots: async (query, signal) => new Map((await login.reads.list(SNAPSHOTS, { ...query, feed: optionFeed }, signal)).known)
  }
  return {
    broker: 'Alpaca',
    mayHave: (symbol, what) => what === 'data' || instrumentOf(symbol) === 'STK',
    instrument: {
      resource: 'trading',
      request: symbol => get(`${instrumentOf(symbol) === 'OPT' ? '/v2/options/contracts' : '/v2/assets'}/${encodeURIComponent(symbol)}`),
      page: instrumentIn,
      also: [400, 404, 422],
      items: (found, symbol) => whole(found.map(wire => parseInstrument(wire, symbol, hours)))
    },
    clock: { resource: 'trading', request: get('/v2/clock'), parse: reply => Date.parse(timestamp(readRecord(reply), 'timestamp')) },
    bars: {
      windows: (request, { instrument }) => barsOf(request, instrument, shareFeed(instrument)),
      /** The minutes that the history does not have yet, of their trades. */
      async rest(request, { instrument }, lastMs, signal) {
        // What ends while the answer is on its way is not known to its end.
        const presentMs = market.presentMs()
        const minutes = request.interval === '1m' ? minutesLacking(request, { lastMs, presentMs, publishedMs: PUBLISHED_MS }) : []
        const [fromMs] = minutes
        if (fromMs === undefined) return []
        const query = { root: rootOf(instrument), symbols: request.symbol, start: timestampOfMs(fromMs), feed: shareFeed(instrument) }
        const { known } = await login.reads.list(TRADES, query, signal)
        return minutes.flatMap(startMs => barOfTrades(known, startMs, presentMs) ?? [])
      }
    },
    expirations: {
      ...CONTRACTS,
      // One side of all from a day on is enough to see the days. Alpaca's own default leaves out all but the nearest.
      request(underlying, next) {
        const from = tradingDay(timestampOfMs(market.presentMs()))
        const days = { expiration_date_gte: from, expiration_date_lte: '9999-12-31', type: 'call' }
        return CONTRACTS.request({ underlying, ...days }, next)
      },
      items: contracts => whole(contracts.map(wire => parseContract(wire).expiration))
    },
    expirationsForMs: EXPIRATIONS_MS,
    async chain(query, signal) {
      const contracts = await chains.contracts(query, signal)
      const snapshots = contracts.length === 0 ? null : await chains.snapshots(query, signal)
      const presentMs = market.presentMs()
      return contracts.map(contract => chainEntry(contract, snapshots?.get(contract.symbol) ?? null, presentMs))
    },
    searches: [],
    streams: streamsOf(settings, login, hello, market, chains)
  }
}

/** The parts of a chain, which the watches of chains read as well. */
interface ChainReads {
  readonly contracts: (query: ChainQuery, signal: AbortSignal) => Promise<readonly Contract[]>
  /** The market of each contract that has one, by its symbol. */
  readonly snapshots: (query: ChainQuery, signal: AbortSignal) => Promise<ReadonlyMap<string, Wire>>
}

/** A stream for each kind of instrument, and the chains that are watched. */
function streamsOf(
  { stockFeed, optionFeed, dataStreamUrl, pingMs }: MarketSettings,
  login: MarketLogin,
  hello: (token: string) => object,
  market: RestMarket<Resource>,
  { contracts, snapshots }: ChainReads
): MarketStreams {
  const isKnown = async (symbol: string, signal: AbortSignal) => (await market.instrument(symbol, signal)) !== null
  const feed = (path: string, frames: typeof JSON_FRAMES, latest: string, query: { readonly feed: string | null }) =>
    marketFeed(
      {
        ...{ url: `${dataStreamUrl}${path}`, pingMs, frames, hello, isKnown, marketClock: market.clock },
        quotes: symbols => get(latest, { symbols, ...query })
      },
      login
    )
  const feeds = {
    STK: feed(`/v2/${stockFeed}`, JSON_FRAMES, `${rootOf('STK')}/quotes/latest`, { feed: stockFeed }),
    CRYPTO: feed(rootOf('CRYPTO'), JSON_FRAMES, `${rootOf('CRYPTO')}/latest/quotes`, { feed: null }),
    OPT: feed(`/v1beta1/${optionFeed}`, MESSAGE_PACK_FRAMES, `${rootOf('OPT')}/quotes/latest`, { feed: optionFeed })
  }
  const chains = new ChainWatches({
    ...{ broker: 'Alpaca', streamedMax: STREAMED_OF_CHAIN, clock: login.clock, fraction: login.socket.fraction },
    ...{ presentMs: () => market.presentMs(), contracts, snapshots, entryOf: chainEntry, withQuote },
    quotes: (symbol, sink) => feeds.OPT.stream({ channel: 'quotes', symbol }, sink, { isOfChain: true })
  })
  return {
    stream(topic, sink) {
      if (topic.channel === 'options_chain') return chains.stream(topic, sink)
      const instrument = instrumentOf(topic.symbol)
      // An unknown symbol is looked up among the shares.
      return feeds[instrument === 'CRYPTO' || instrument === 'OPT' ? instrument : 'STK'].stream(topic, sink)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...Object.values(feeds), chains].map(part => part[Symbol.asyncDispose]()))
    }
  }
}

/** The records of a page, with the cursor of the next. */
function pageOf(answer: Wire, found: readonly Wire[]): ListPage {
  return { records: found, next: textOrNull(answer, 'next_page_token') }
}

function instrumentIn(reply: HttpReply): ListPage {
  if (isSuccess(reply.status)) return { records: [readRecord(reply)], next: null }
  if (isUnknownInstrument(reply)) return { records: [], next: null }
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
function barsOf(request: BarsRequest, instrument: Instrument, feed: string | null): readonly BarsWindow<Resource>[] {
  const { symbol, interval, fromMs, toMs } = request
  const frame = TIMEFRAMES[interval]
  if (frame === undefined) throw new BrokerFault('refused', `Alpaca has bars of ${Object.keys(TIMEFRAMES).join(', ')}, not of ${interval}`)
  demandWindow(request)
  if (fromMs === toMs) return []
  const query = {
    // Alpaca includes the end.
    ...{ symbols: symbol, timeframe: frame.name, start: timestampOfMs(fromMs), end: timestampOfMs(Math.max(fromMs, toMs - 1)) },
    // Prices before a split are those of today's shares, so that a chart has no cliff.
    ...{ limit: String(PAGE), sort: 'asc', adjustment: instrument === 'STK' ? 'split' : null, feed }
  }
  return [
    {
      resource: 'data',
      request: cursor => get(`${rootOf(instrument)}/bars`, { ...query, page_token: cursor }),
      page: (reply, presentMs) => parseBarsPage(reply, symbol, presentMs - frame.ms),
      pagesMax: PAGES_MAX
    }
  ]
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

interface TradesQuery {
  readonly root: string
  /** One. */
  readonly symbols: string
  readonly start: string
  readonly feed: string | null
}

const TRADES: ListRead<Resource, TradesQuery, Trade> = {
  resource: 'data',
  request: ({ root, ...query }, next) => get(`${root}/trades`, { ...query, limit: String(PAGE), sort: 'asc', page_token: next }),
  page(reply) {
    const answer = readRecord(reply)
    return pageOf(
      answer,
      Object.keys(nestedOrNull(answer, 'trades') ?? {}).flatMap(symbol => itemsOf(answer, 'trades', symbol))
    )
  },
  pagesMax: PAGES_MAX,
  items: trades => whole(trades.map(tradeOf))
}

/** The records of a symbol, in an answer that has them by symbol; none where there are none. */
function itemsOf(answer: Wire, key: string, symbol: string): readonly Wire[] {
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

const RIGHTS = enumCodec({ call: 'C', put: 'P' })
export const parseContract = record<Contract>({
  symbol: wire => symbolIn(text(wire, 'symbol'), 'symbol'),
  right: wire => RIGHTS.read(wire, 'type'),
  strike: of(decimal)('strike_price'),
  expiration: of(day)('expiration_date')
})

type ContractsQuery = { readonly underlying: string } & Parameters<typeof get>[1]

const CONTRACTS: ListRead<Resource, ContractsQuery, Contract> = {
  resource: 'trading',
  request: ({ underlying, ...days }, next) =>
    get('/v2/options/contracts', { underlying_symbols: underlying, status: 'active', ...days, limit: '5000', page_token: next }),
  page: contractsIn,
  pagesMax: PAGES_MAX,
  items: contracts => whole(contracts.map(parseContract))
}

export function contractsIn(reply: Pick<HttpReply, 'body'>): ListPage {
  const answer = readRecord(reply)
  return pageOf(
    answer,
    list(answer, 'option_contracts', wire => wire)
  )
}

const SNAPSHOTS: ListRead<Resource, ChainQuery & { readonly feed: string }, readonly [symbol: string, market: Wire]> = {
  resource: 'data',
  request: ({ underlying, expiration, feed }, next) =>
    get(`/v1beta1/options/snapshots/${encodeURIComponent(underlying)}`, {
      feed,
      expiration_date: expiration,
      limit: '1000',
      page_token: next
    }),
  page(reply) {
    const answer = readRecord(reply)
    return pageOf(answer, [nestedOrNull(answer, 'snapshots') ?? {}])
  },
  pagesMax: PAGES_MAX,
  items: pages => whole(pages.flatMap(snapshotsIn))
}

/** Each contract's market by its symbol, as it came. */
export function snapshotsIn(page: Wire): readonly (readonly [symbol: string, market: Wire])[] {
  return Object.entries(page).map(([symbol, wire]) => [symbol, object(wire, symbol)] as const)
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
