/** Market data of one login, made from its definition: what is streamed, what is polled, and what is read. */

import type { Bar, ChainEntry, Quote } from '@trunkline/core/domain/market/records'
import type { Day } from '@trunkline/core/domain/timestamp'
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
import { instrumentCache, type TtlCache } from '../bounded-cache.ts'
import type { HttpReply, HttpRequest } from '../http.ts'
import { MarketTime } from '../market-time.ts'
import type { Wire } from '../parse.ts'
import type { Login } from './definition.ts'
import { type FullListDefinition, FullListFeed, type SymbolSinks } from './full-list-feed.ts'
import { PolledTopics, type Published, publishChanges } from './polled-topics.ts'
import { QuoteBatches } from './quote-batches.ts'
import type { ListRead } from './read-definitions.ts'

/** Between two polls of a topic's quotes, which are requested together. */
const QUOTES_EVERY_MS = 2_000
/** Between two polls of another topic, which takes a request of its own. */
const EVERY_MS = 5_000
/** What the polls of a topic may take of each minute, so that half of it is left for reads. */
const CALL_MS = 1_000
const MINUTE_MS = 60_000

/** `@throws Malformed` holds for every parser. */
export interface MarketDefinition<Resource extends string, Sinks extends SymbolSinks> {
  /** For messages. */
  readonly broker: string
  readonly resource: Resource
  readonly toBroker: (symbol: string) => string
  readonly quotes: {
    /** Symbols in one request. */
    readonly max: number
    readonly request: (symbols: readonly string[]) => HttpRequest
    /** By the broker's symbol; without those that it does not know. */
    readonly parse: (reply: HttpReply) => ReadonlyMap<string, Wire>
    readonly quoteOf: (quote: Wire) => Quote
    /** When the quote last changed, in milliseconds since the epoch; 0: unknown. */
    readonly changedMs: (quote: Wire) => number
    readonly instrumentOf: (quote: Wire) => MarketInstrument
  }
  /** The broker's time, in milliseconds since the epoch. */
  readonly clock: MarketRead<readonly [], number>
  /** The windows of a request, ascending. @throws BrokerFault `refused` for what the broker has no value for */
  readonly bars: (request: BarsRequest, presentMs: number) => readonly BarsWindow[]
  readonly expirations: MarketRead<readonly [underlying: string], readonly Day[]>
  readonly chain: MarketRead<readonly [underlying: string, expiration: Day], readonly ChainEntry[]>
  /** Each finds symbols in its own way. */
  readonly searches: readonly ListRead<Resource, string, FoundSymbol>[]
  /** Null: quotes are polled, and trades are not offered. */
  readonly stream: FullListDefinition<Sinks> | null
}

export interface MarketRead<Query extends readonly unknown[], T> {
  readonly request: (...query: Query) => HttpRequest
  readonly parse: (reply: HttpReply) => T
}

/** A part of a request for bars that the broker answers at once. `presentMs` is the market's time of the request. */
export interface BarsWindow {
  readonly request: HttpRequest
  readonly parse: (reply: HttpReply, presentMs: number) => readonly Bar[]
  /** Statuses, besides the successes, that `parse` reads. */
  readonly also: readonly number[]
}

export class RestMarket<Resource extends string, Sinks extends SymbolSinks> implements MarketSource, AsyncDisposable {
  readonly #definition: MarketDefinition<Resource, Sinks>
  readonly #login: Pick<Login<Resource>, 'calls' | 'reads'>
  readonly #time: MarketTime
  readonly #known: TtlCache<MarketInstrument | null>
  readonly #feed: FullListFeed<Sinks> | null
  readonly #polled: PolledTopics
  readonly #quoteBatches: QuoteBatches

  constructor(definition: MarketDefinition<Resource, Sinks>, login: Pick<Login<Resource>, 'calls' | 'reads' | 'clock' | 'socket'>) {
    const { clock, socket: connection } = login
    const quotes = (symbols: readonly string[], signal: AbortSignal) => this.#quotes(symbols, signal)
    this.#definition = definition
    this.#login = login
    this.#time = new MarketTime(clock)
    this.#known = instrumentCache(clock)
    const { stream } = definition
    this.#feed =
      stream === null ? null : new FullListFeed({ definition: stream, connection, quotes, happened: ms => this.#time.happened(ms) })
    this.#quoteBatches = new QuoteBatches(clock, quotes)
    this.#polled = new PolledTopics({
      clock,
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
    const { toBroker, clock, quotes } = this.#definition
    const requested = toBroker(symbol)
    const [found, atMs] = await Promise.all([this.#quotes([requested], signal), this.#read(clock, [], signal)])
    this.#time.sync(atMs)
    const quote = found.get(requested)
    const instrument = quote === undefined ? null : quotes.instrumentOf(quote)
    this.#known.put(symbol, instrument)
    return instrument
  }

  async *bars(request: BarsRequest, signal: AbortSignal): AsyncGenerator<readonly Bar[], void, undefined> {
    const { broker, bars, resource } = this.#definition
    // A symbol that the broker does not know may look like one without a trade.
    if ((await this.instrument(request.symbol, signal)) === null)
      throw new BrokerFault('refused', `${broker} does not know ${request.symbol}`)
    let lastMs = Number.NEGATIVE_INFINITY
    for (const { request: requested, parse, also } of bars(request, this.presentMs())) {
      // A bar that ends while the answer is on its way is not complete.
      const presentMs = this.presentMs()
      const found = await this.#login.calls.of(resource).read(requested, reply => parse(reply, presentMs), signal, { also })
      const page = found.filter(({ startMs }) => startMs > lastMs)
      for (const { startMs } of page) {
        if (startMs <= lastMs) throw new BrokerFault('malformed', "the broker's bars do not ascend")
        lastMs = startMs
      }
      if (page.length > 0) yield page
    }
  }

  async expirations(underlying: string, signal: AbortSignal): Promise<readonly Day[]> {
    return [...new Set(await this.#read(this.#definition.expirations, [underlying], signal))].toSorted()
  }

  chain(underlying: string, expiration: Day, signal: AbortSignal): Promise<readonly ChainEntry[]> {
    return this.#read(this.#definition.chain, [underlying, expiration], signal)
  }

  async search(text: string, signal: AbortSignal): Promise<readonly FoundSymbol[]> {
    const { searches } = this.#definition
    const found = await Promise.all(searches.map(search => this.#login.reads.list(search, text, signal)))
    return found.flatMap(({ known }) => known.slice(0, SYMBOLS_FOUND_MAX / searches.length))
  }

  stream(topic: Topic, sink: TopicSink): TopicLease {
    const isStreamed = topic.channel === 'trades' || topic.channel === 'quotes'
    return isStreamed && this.#feed !== null ? this.#feed.stream(topic, sink) : this.#polled.stream(topic, sink)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const parts = [this.#feed, this.#polled, this.#quoteBatches]
    await Promise.all(parts.map(part => part?.[Symbol.asyncDispose]()))
  }

  /** @throws BrokerFault `refused` for what is neither streamed nor can be polled */
  async #poll(topic: Topic, sink: TopicSink, before: Published | null, signal: AbortSignal): Promise<Published> {
    const { broker, quotes, toBroker } = this.#definition
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
        const pages = this.bars({ ...topic, fromMs: presentMs - 3 * MINUTE_MS, toMs: presentMs + MINUTE_MS }, signal)
        return publishChanges(
          (await Array.fromAsync(pages)).flat(),
          ({ startMs }) => String(startMs),
          before,
          bar => sink.bar(bar)
        )
      }
      case 'quotes': {
        const quote = await this.#quoteBatches.quote(toBroker(topic.symbol), signal)
        if (quote === undefined) throw new BrokerFault('refused', `${broker} has no quotes of ${topic.symbol}`)
        this.#time.happened(quotes.changedMs(quote))
        return publishChanges(
          [quotes.quoteOf(quote)],
          () => topic.symbol,
          before,
          each => sink.quote(each)
        )
      }
      default:
        throw new BrokerFault('refused', `${broker} streams no ${topic.channel} here`)
    }
  }

  async #quotes(symbols: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Wire>> {
    const { max, request, parse } = this.#definition.quotes
    const all = new Map<string, Wire>()
    for (let from = 0; from < symbols.length; from += max)
      for (const [symbol, quote] of await this.#read({ request, parse }, [symbols.slice(from, from + max)], signal)) all.set(symbol, quote)
    return all
  }

  #read<Query extends readonly unknown[], T>({ request, parse }: MarketRead<Query, T>, query: Query, signal: AbortSignal): Promise<T> {
    return this.#login.calls.of(this.#definition.resource).read(request(...query), parse, signal)
  }
}
