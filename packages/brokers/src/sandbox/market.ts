/** The sandbox's market data of one login: what is read, with bars and chains in the core's terms. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { isPlainDecimal, isPlainText } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Bar, ChainEntry, Greeks } from '@trunkline/core/domain/market/records'
import { type Day, epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import {
  type BarsRequest,
  type FoundSymbol,
  type MarketInstrument,
  type MarketSource,
  SYMBOLS_FOUND_MAX,
  type Topic,
  type TopicLease,
  type TopicSink
} from '@trunkline/core/ports/market'
import { instrumentCache, type TtlCache } from '../kit/bounded-cache.ts'
import { type Calls, isSuccess } from '../kit/calls.ts'
import type { HttpReply, HttpRequest } from '../kit/http.ts'
import { readJson } from '../kit/json.ts'
import { MarketClock } from '../kit/market-clock.ts'
import { changeOf, midOf, percentOf } from '../kit/market-values.ts'
import { day, field, list, object, records, textOrNull, timestamp } from '../kit/parse.ts'
import type { Login } from '../kit/runtime/definition.ts'
import type { IncrementalFeed } from '../kit/runtime/incremental-feed.ts'
import { type BarsPage, demandWindow, pagedBars } from '../kit/runtime/paged-bars.ts'
import type { ListRead } from '../kit/runtime/read-definitions.ts'
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

export class SandboxMarket implements MarketSource, AsyncDisposable {
  readonly #calls: Calls
  readonly #reads: Login<'api'>['reads']
  readonly #marketClock: MarketClock
  readonly #instruments: TtlCache<MarketInstrument | null>
  readonly #feed: IncrementalFeed

  /** `feedOf` makes the feed, which keeps the market's clock. */
  constructor(
    { calls, reads, clock }: Pick<Login<'api'>, 'calls' | 'reads' | 'clock'>,
    feedOf: (marketClock: MarketClock) => IncrementalFeed
  ) {
    this.#calls = calls.of('api')
    this.#reads = reads
    this.#marketClock = new MarketClock(clock)
    this.#instruments = instrumentCache(clock)
    this.#feed = feedOf(this.#marketClock)
  }

  presentMs(): number {
    return this.#marketClock.nowMs()
  }

  async instrument(symbol: string, signal: AbortSignal): Promise<MarketInstrument | null> {
    const known = this.#instruments.get(symbol)
    if (known !== undefined) return known
    const request = get(`/instruments/${encodeURIComponent(symbol)}`, {})
    const found = await this.#calls.read(request, reply => this.#instrument(reply, symbol), signal, { also: [404] })
    this.#instruments.put(symbol, found)
    return found
  }

  async *bars(request: BarsRequest, signal: AbortSignal): AsyncGenerator<readonly Bar[], void, undefined> {
    yield* pagedBars(PAGES_MAX, async cursor => {
      const page = await this.#calls.read(barsRequest(request, cursor), reply => parseBarsPage(reply.body), signal)
      this.#marketClock.sync(epochMs(page.sandboxTime))
      return page
    })
  }

  expirations(underlying: string, signal: AbortSignal): Promise<readonly Day[]> {
    return this.#calls.read(
      get('/expirations', { underlying }),
      reply => list(readAnswer(reply.body), 'items', wire => day(wire, 'expiration')).toSorted(),
      signal
    )
  }

  chain(underlying: string, expiration: Day, signal: AbortSignal): Promise<readonly ChainEntry[]> {
    const read = (reply: HttpReply) => {
      const answer = readAnswer(reply.body)
      if (isSuccess(reply.status)) return list(answer, 'items', wire => chainEntry(wire, day(wire, 'expiration')))
      if (isUnknown('symbol', answer)) return []
      throw new BrokerFault('refused', 'the chain could not be requested from the sandbox')
    }
    return this.#calls.read(get('/chain', { underlying, expiration }), read, signal, { also: [404] })
  }

  async search(text: string, signal: AbortSignal): Promise<readonly FoundSymbol[]> {
    return (await this.#reads.list(SEARCH, text, signal)).known
  }

  stream(topic: Topic, sink: TopicSink): TopicLease {
    return this.#feed.stream(topic, sink)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#feed[Symbol.asyncDispose]()
  }

  #instrument(reply: HttpReply, symbol: string): MarketInstrument | null {
    const answer = readAnswer(reply.body)
    this.#marketClock.sync(epochMs(timestamp(answer, 'sandbox_time')))
    if (isSuccess(reply.status)) return parseInstrument(answer, symbol)
    if (isUnknown('symbol', answer)) return null
    throw new BrokerFault('refused', 'the symbol could not be requested from the sandbox')
  }
}

/** Past bars: a page has thousands, so each is read with as little as it takes. */
export interface SandboxBars extends BarsPage {
  readonly sandboxTime: Timestamp
}

/** @throws BrokerFault `refused` for times that the sandbox cannot represent */
export function barsRequest(request: BarsRequest, cursor: string | null): HttpRequest {
  const { symbol, interval, fromMs, toMs, session } = request
  demandWindow(request)
  const ofDays = session === 'USEqCore' ? 'core' : null
  const [from, to] = [timestampOfMs(fromMs), timestampOfMs(toMs)]
  return get('/bars', { symbol, interval, session: ofDays, from, to, limit: String(BARS_PAGE), cursor })
}

type RawBar = { readonly [key in 'start' | 'open' | 'high' | 'low' | 'close' | 'volume' | 'closed']?: unknown }

/** @throws Malformed */
export function parseBarsPage(body: string): SandboxBars {
  const answer = object(readJson(body), 'answer')
  const { items } = answer
  if (!Array.isArray(items) || items.length > BARS_PAGE) throw new Malformed('items', `a list of at most ${BARS_PAGE}`, items)
  return { bars: items.map(parseBar), next: textOrNull(answer, 'next'), sandboxTime: timestamp(answer, 'sandbox_time') }
}

function parseBar(item: unknown): Bar {
  if (!isRawBar(item)) throw new Malformed('bar', 'an object', item)
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

function isRawBar(value: unknown): value is RawBar {
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

/** A contract of a chain, in an answer or in the stream. */
export type RawOption = {
  readonly [key in
    | 'u'
    | 's'
    | 'right'
    | 'strike'
    | 'expiration'
    | 'b'
    | 'bz'
    | 'a'
    | 'az'
    | 'last'
    | 'o'
    | 'h'
    | 'l'
    | 'c'
    | 'pc'
    | 'v']?: unknown
} & { readonly [key in 'delta' | 'gamma' | 'theta' | 'vega' | 'rho' | 'iv']?: unknown }

/** @throws Malformed */
export function chainEntry(item: RawOption, expiration: Day): ChainEntry {
  const bid = decimal(item.b, 'b')
  const ask = decimal(item.a, 'a')
  const last = decimal(item.last, 'last')
  const previousClose = decimal(item.pc, 'pc')
  const netChange = changeOf(last, previousClose)
  return {
    symbol: symbol(item.s),
    right: right(item.right),
    strike: decimalOf(item.strike, 'strike'),
    expiration,
    bid,
    bidSize: decimal(item.bz, 'bz'),
    ask,
    askSize: decimal(item.az, 'az'),
    mid: midOf(bid, ask),
    last,
    open: decimal(item.o, 'o'),
    high: decimal(item.h, 'h'),
    low: decimal(item.l, 'l'),
    close: decimal(item.c, 'c'),
    previousClose,
    netChange,
    netChangePct: percentOf(netChange, previousClose),
    volume: decimal(item.v, 'v'),
    greeks: greeks(item)
  }
}

function greeks(item: RawOption): Greeks | null {
  const delta = decimal(item.delta, 'delta')
  const gamma = decimal(item.gamma, 'gamma')
  const theta = decimal(item.theta, 'theta')
  const rho = decimal(item.rho, 'rho')
  const vega = decimal(item.vega, 'vega')
  const iv = decimal(item.iv, 'iv')
  const isNothing = delta === null && gamma === null && theta === null && rho === null && vega === null && iv === null
  return isNothing ? null : { delta, gamma, theta, rho, vega, iv }
}

function symbol(value: unknown): string {
  if (typeof value === 'string' && value !== '' && isPlainText(value, SYMBOL_MAX)) return value
  throw new Malformed('s', 'the symbol of an option', value)
}

function right(value: unknown): 'C' | 'P' {
  if (value === 'call') return 'C'
  if (value === 'put') return 'P'
  throw new Malformed('right', 'call or put', value)
}

function decimal(value: unknown, what: string): Decimal | null {
  return value === null ? null : decimalOf(value, what)
}
