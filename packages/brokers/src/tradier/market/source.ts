/** Tradier's market data of one login: its stream where there is one, what is polled, and what is read beside them. */

import type { Bar, ChainEntry } from '@trunkline/core/domain/market/records'
import { type Day, parseDay } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
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
import { instrumentCache, type TtlCache } from '../../kit/bounded-cache.ts'
import { isSuccess } from '../../kit/calls.ts'
import type { HttpRequest } from '../../kit/http.ts'
import type { MarketHours } from '../../kit/market-hours.ts'
import type { Wire } from '../../kit/parse.ts'
import { get } from '../../kit/requests.ts'
import type { TradierCalls } from '../calls.ts'
import { quotesRequest } from '../requests.ts'
import { toTradier } from '../symbols.ts'
import { readAnswer } from '../wire.ts'
import { barsWindows, isTooOld } from './bars.ts'
import { chainRequest, expirationsRequest, parseChain } from './chain.ts'
import { type FeedOptions, MarketFeed } from './feed.ts'
import { MarketTime } from './market-time.ts'
import { Polls, type Published } from './poll.ts'
import { QuoteBatches } from './quote-rounds.ts'
import { instrumentOf, latestMs, parseClock, parseExpirations, parseQuotes, quoteOf } from './quotes.ts'
import { parseSecurities } from './securities.ts'

/** Symbols in one request for quotes. */
const BATCH_MAX = 400
/** Between two askings for a topic. */
const QUOTES_EVERY_MS = 2_000
const EVERY_MS = 5_000
/** What a topic's call may take of the minute, so that half of it is left for reads. */
const CALL_MS = 1_000
const MINUTE_MS = 60_000

export interface MarketOptions {
  readonly calls: TradierCalls
  readonly clock: Clock
  readonly hours: MarketHours
  /** Null: quotes are polled. */
  readonly stream: Pick<FeedOptions, 'url' | 'connection' | 'session' | 'quietMs'> | null
}

export class TradierMarket implements MarketSource, AsyncDisposable {
  readonly #options: MarketOptions
  readonly #time: MarketTime
  readonly #known: TtlCache<MarketInstrument | null>
  readonly #feed: MarketFeed | null
  readonly #polls: Polls
  readonly #quoteBatches: QuoteBatches

  constructor(options: MarketOptions) {
    const { clock, stream } = options
    const quotes = (symbols: readonly string[], signal: AbortSignal) => this.#quotes(symbols, signal)
    this.#options = options
    this.#time = new MarketTime(clock)
    this.#known = instrumentCache(clock)
    this.#feed = stream === null ? null : new MarketFeed({ ...stream, quotes, happened: ms => this.#time.happened(ms) })
    this.#quoteBatches = new QuoteBatches(clock, quotes)
    this.#polls = new Polls({
      clock,
      // Quotes are requested together; everything else takes a call each.
      everyMs: ({ channel }, topics) => (channel === 'quotes' ? QUOTES_EVERY_MS : Math.max(EVERY_MS, topics * CALL_MS)),
      read: (topic, sink, before, signal) => this.#poll(topic, sink, before, signal)
    })
  }

  presentMs(): number {
    return this.#time.nowMs()
  }

  async instrument(symbol: string, signal: AbortSignal): Promise<MarketInstrument | null> {
    const known = this.#known.get(symbol)
    if (known !== undefined) return known
    const requested = toTradier(symbol)
    const [quotes, clock] = await Promise.all([
      this.#quotes([requested], signal),
      this.#read(get('/markets/clock', {}), parseClock, signal)
    ])
    this.#time.sync(clock.atMs)
    const quote = quotes.get(requested)
    const found = quote === undefined ? null : instrumentOf(quote, this.#options.hours)
    this.#known.put(symbol, found)
    return found
  }

  async *bars(request: BarsRequest, signal: AbortSignal): AsyncGenerator<readonly Bar[], void, undefined> {
    // Tradier makes no difference between a symbol it does not know and one without a trade.
    if ((await this.instrument(request.symbol, signal)) === null)
      throw new BrokerFault('refused', `Tradier does not know ${request.symbol}`)
    let lastMs = Number.NEGATIVE_INFINITY
    for (const window of barsWindows(request, this.presentMs())) {
      const bars = await this.#window(window, signal)
      const page = bars.filter(({ startMs }) => startMs > lastMs)
      for (const { startMs } of page) {
        if (startMs <= lastMs) throw new BrokerFault('malformed', "Tradier's bars do not ascend")
        lastMs = startMs
      }
      if (page.length > 0) yield page
    }
  }

  async expirations(underlying: string, signal: AbortSignal): Promise<readonly Day[]> {
    const days = (answer: Wire) => parseExpirations(answer).map(date => parseDay(date, 'expiration'))
    return [...new Set(await this.#read(expirationsRequest(underlying), days, signal))].toSorted()
  }

  chain(underlying: string, expiration: Day, signal: AbortSignal): Promise<readonly ChainEntry[]> {
    return this.#read(chainRequest(underlying, expiration), parseChain, signal)
  }

  async search(text: string, signal: AbortSignal): Promise<readonly FoundSymbol[]> {
    // One finds symbols by what they begin with, the other by words of the name.
    const requested = ['/markets/lookup', '/markets/search'].map(path => this.#read(get(path, { q: text }), parseSecurities, signal))
    return (await Promise.all(requested)).flatMap(found => found.slice(0, SYMBOLS_FOUND_MAX / requested.length))
  }

  stream(topic: Topic, sink: TopicSink): TopicLease {
    const isStreamed = topic.channel === 'trades' || (topic.channel === 'quotes' && this.#feed !== null)
    return isStreamed && this.#feed !== null ? this.#feed.stream(topic, sink) : this.#polls.stream(topic, sink)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#feed?.[Symbol.asyncDispose](), this.#polls[Symbol.asyncDispose](), this.#quoteBatches[Symbol.asyncDispose]()])
  }

  #window({ request, read }: ReturnType<typeof barsWindows>[number], signal: AbortSignal): Promise<readonly Bar[]> {
    // What ends while the answer is on its way is not known to its end.
    const presentMs = this.presentMs()
    return this.#options.calls.read(
      'market',
      request,
      reply => {
        if (isSuccess(reply.status)) return read(readAnswer(reply.body), presentMs)
        if (isTooOld(reply)) return []
        throw new BrokerFault('refused', 'the bars could not be requested from Tradier')
      },
      signal,
      { also: [400] }
    )
  }

  /** @throws BrokerFault `refused` for what is neither streamed nor can be polled */
  async #poll(topic: Topic, sink: TopicSink, before: Published | null, signal: AbortSignal): Promise<Published> {
    switch (topic.channel) {
      case 'options_chain': {
        const entries = await this.chain(topic.symbol, topic.expiration, signal)
        return publishChanges(
          entries,
          ({ symbol }) => symbol,
          before,
          entry => sink.chain(entry)
        )
      }
      case 'bars': {
        const presentMs = this.presentMs()
        const bars: Bar[] = []
        for await (const page of this.bars({ ...topic, fromMs: presentMs - 3 * MINUTE_MS, toMs: presentMs + MINUTE_MS }, signal))
          bars.push(...page)
        return publishChanges(
          bars,
          ({ startMs }) => String(startMs),
          before,
          bar => sink.bar(bar)
        )
      }
      case 'quotes': {
        const quote = await this.#quoteBatches.quote(toTradier(topic.symbol), signal)
        if (quote === undefined) throw new BrokerFault('refused', `Tradier has no quotes of ${topic.symbol}`)
        this.#time.happened(latestMs(quote, ['bid_date', 'ask_date']))
        return publishChanges(
          [quoteOf(quote)],
          () => topic.symbol,
          before,
          each => sink.quote(each)
        )
      }
      default:
        throw new BrokerFault('refused', `Tradier streams no ${topic.channel} here`)
    }
  }

  async #quotes(symbols: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Wire>> {
    const all = new Map<string, Wire>()
    for (let from = 0; from < symbols.length; from += BATCH_MAX)
      for (const [symbol, quote] of await this.#read(quotesRequest(symbols.slice(from, from + BATCH_MAX)), parseQuotes, signal))
        all.set(symbol, quote)
    return all
  }

  #read<T>(request: HttpRequest, parse: (answer: Wire) => T, signal: AbortSignal): Promise<T> {
    return this.#options.calls.read('market', request, reply => parse(readAnswer(reply.body)), signal)
  }
}

/** Publishes those records that differ from what was published. */
function publishChanges<T>(
  records: readonly T[],
  keyOf: (record: T) => string,
  before: Published | null,
  publish: (record: T) => void
): Published {
  const published = new Map<string, string>()
  for (const record of records) {
    const [key, text] = [keyOf(record), JSON.stringify(record)]
    published.set(key, text)
    if (before?.get(key) !== text) publish(record)
  }
  return published
}
