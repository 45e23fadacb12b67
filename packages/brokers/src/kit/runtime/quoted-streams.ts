/** What a broker streams of a list of symbols, and what it can only be polled for: quotes without a stream, bars and chains. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { MarketSource, Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import type { MarketClock } from '../market-clock.ts'
import type { Wire } from '../parse.ts'
import type { OpenLogin } from './definition.ts'
import { type FullListDefinition, FullListFeed, type QuotesDefinition, type SymbolSinks } from './full-list-feed.ts'
import { PolledTopics, type TopicPart } from './polled-topics.ts'
import type { MarketStreams } from './rest-market.ts'

/** Quotes of single callers within this time are one request. */
const GATHER_MS = 100
/** Between two polls of a topic's quotes. */
const QUOTES_EVERY_MS = 2_000
/** Between two polls of another topic, which takes a request of its own. */
const EVERY_MS = 5_000
/** What the polls of a topic may take of each minute, so that half of it is left for reads. */
const CALL_MS = 1_000
const MINUTE_MS = 60_000

type QuotedMarket = Pick<MarketSource, 'bars' | 'chain'> & { readonly clock: MarketClock }

export class QuotedStreams<Resource extends string, Sinks extends SymbolSinks> implements MarketStreams {
  readonly #definition: QuotesDefinition<Resource>
  readonly #login: Pick<OpenLogin<Resource>, 'calls'>
  readonly #market: QuotedMarket
  readonly #feed: FullListFeed<Sinks> | null
  readonly #polled: PolledTopics
  readonly #batches: QuoteBatches

  /** `stream` null: quotes are polled, and trades are not offered. */
  constructor(
    definition: QuotesDefinition<Resource>,
    stream: FullListDefinition<Sinks> | null,
    login: Pick<OpenLogin<Resource>, 'calls' | 'clock' | 'socket'>,
    market: QuotedMarket
  ) {
    const { clock, socket: connection } = login
    const quotes = (symbols: readonly string[], signal: AbortSignal) => this.#quotes(symbols, signal)
    this.#definition = definition
    this.#login = login
    this.#market = market
    const happened = (ms: number) => market.clock.happened(ms)
    this.#feed =
      stream === null ? null : new FullListFeed({ definition: stream, quotesDefinition: definition, connection, quotes, happened })
    this.#batches = new QuoteBatches(clock, quotes)
    this.#polled = new PolledTopics({
      clock,
      everyMs: ({ channel }, topics) => (channel === 'quotes' ? QUOTES_EVERY_MS : Math.max(EVERY_MS, topics * CALL_MS)),
      read: (topic, signal) => this.#poll(topic, signal)
    })
  }

  stream(topic: Topic, sink: TopicSink): TopicLease {
    const isStreamed = topic.channel === 'trades' || topic.channel === 'quotes'
    return isStreamed && this.#feed !== null ? this.#feed.stream(topic, sink) : this.#polled.stream(topic, sink)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#feed, this.#polled, this.#batches].map(part => part?.[Symbol.asyncDispose]()))
  }

  /** @throws BrokerFault `refused` for what is neither streamed nor can be polled */
  async #poll(topic: Topic, signal: AbortSignal): Promise<readonly TopicPart[]> {
    const { broker, toBroker, quoteOf, changedMs } = this.#definition
    const { clock } = this.#market
    switch (topic.channel) {
      case 'options_chain': {
        const entries = await this.#market.chain(topic.symbol, topic.expiration, signal)
        return entries.map(value => ({ key: value.symbol, value, publish: sink => sink.chain(value) }))
      }
      case 'bars': {
        const presentMs = clock.nowMs()
        const pages = this.#market.bars({ ...topic, fromMs: presentMs - 3 * MINUTE_MS, toMs: presentMs + MINUTE_MS }, signal)
        const bars = (await Array.fromAsync(pages)).flat()
        return bars.map(value => ({ key: String(value.startMs), value, publish: sink => sink.bar(value) }))
      }
      case 'quotes': {
        const quote = await this.#batches.quote(toBroker(topic.symbol), signal)
        if (quote === undefined) throw new BrokerFault('refused', `${broker} has no quotes of ${topic.symbol}`)
        clock.happened(changedMs(quote, 'quotes'))
        const value = quoteOf(quote)
        return [{ key: topic.symbol, value, publish: sink => sink.quote(value) }]
      }
      default:
        throw new BrokerFault('refused', `${broker} streams no ${topic.channel} here`)
    }
  }

  async #quotes(symbols: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Wire>> {
    const { resource, max, request, parse } = this.#definition
    const calls = this.#login.calls.of(resource)
    const all = new Map<string, Wire>()
    for (let from = 0; from < symbols.length; from += max)
      for (const [symbol, quote] of await calls.read(request(symbols.slice(from, from + max)), parse, signal)) all.set(symbol, quote)
    return all
  }
}

/** Quotes for many single callers: calls within a moment are answered by one request. */
class QuoteBatches implements AsyncDisposable {
  readonly #clock: Clock
  readonly #read: (symbols: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, Wire>>
  readonly #closing = new AbortController()
  #next: { readonly symbols: Set<string>; readonly answer: Promise<ReadonlyMap<string, Wire>> } | null = null

  constructor(clock: Clock, read: (symbols: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, Wire>>) {
    this.#clock = clock
    this.#read = read
  }

  /** Undefined when the broker does not know the symbol. @throws BrokerFault; the signal's reason */
  async quote(symbol: string, signal: AbortSignal): Promise<Wire | undefined> {
    signal.throwIfAborted()
    if (this.#next === null) {
      const symbols = new Set<string>()
      this.#next = { symbols, answer: this.#gathered(symbols) }
    }
    this.#next.symbols.add(symbol)
    return (await this.#next.answer).get(symbol)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the login was closed'))
    await this.#next?.answer.catch(() => undefined)
  }

  async #gathered(symbols: ReadonlySet<string>): Promise<ReadonlyMap<string, Wire>> {
    const { signal } = this.#closing
    await this.#clock.sleep(GATHER_MS, signal).finally(() => {
      this.#next = null
    })
    return await this.#read([...symbols], signal)
  }
}
