/** Market data of one login, made from its definition: what is read, and what is streamed. */

import type { Bar, ChainEntry } from '@trunkline/core/domain/market/records'
import { type Day, epochMs } from '@trunkline/core/domain/timestamp'
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
import { instrumentCache, TtlCache } from '../bounded-cache.ts'
import type { HttpReply, HttpRequest } from '../http.ts'
import { MarketClock } from '../market-clock.ts'
import { type Paged, pages } from '../pages.ts'
import type { ListRead } from './read-definitions.ts'
import type { Reads } from './reads.ts'
import type { ResourceCalls } from './resource-calls.ts'

const UNDERLYINGS_MAX = 1_000

/** An answer that has the broker's time (`brokerClock`) sets the market's clock. `@throws Malformed` holds for every parser. */
export interface MarketDefinition<Resource extends string> {
  /** For messages. */
  readonly broker: string
  /** What a symbol of ours is; nothing for one that the broker does not know. */
  readonly instrument: ListRead<Resource, string, MarketInstrument>
  /** Whether the broker may have such a symbol, or options of it: what it cannot have is not requested. */
  readonly mayHave?: (symbol: string, what: 'data' | 'options') => boolean
  /** For a broker whose answers have no time: read with every instrument. Milliseconds since the epoch. */
  readonly clock?: { readonly resource: Resource; readonly request: HttpRequest; readonly parse: (reply: HttpReply) => number }
  readonly bars: BarsDefinition<Resource>
  readonly expirations: ListRead<Resource, string, Day>
  /** How long expirations are known once they are read; 0 unless said otherwise. */
  readonly expirationsForMs?: number
  readonly chain: ListRead<Resource, ChainQuery, ChainEntry> | ((query: ChainQuery, signal: AbortSignal) => Promise<readonly ChainEntry[]>)
  /** Each finds symbols in its own way; none: the broker has no search. */
  readonly searches: readonly ListRead<Resource, string, FoundSymbol>[]
  readonly streams: MarketStreams
}

export interface ChainQuery {
  readonly underlying: string
  readonly expiration: Day
}

export type MarketStreams = Pick<MarketSource, 'stream'> & AsyncDisposable

export interface BarsDefinition<Resource extends string> {
  /** The windows of a request, ascending. @throws BrokerFault `refused` for what the broker has no value for */
  readonly windows: (request: BarsRequest, known: MarketInstrument, presentMs: number) => readonly BarsWindow<Resource>[]
  /** The bars after `lastMs`, the start of the last one, that the history does not have yet. @throws BrokerFault */
  readonly rest?: (request: BarsRequest, known: MarketInstrument, lastMs: number, signal: AbortSignal) => Promise<readonly Bar[]>
}

/** A part of a request for bars, which the broker answers at once or in pages. */
export interface BarsWindow<Resource extends string> {
  readonly resource: Resource
  readonly request: (cursor: string | null) => HttpRequest
  /** `presentMs` is the market's time of the request: a bar that ends while the answer is on its way is not complete. */
  readonly page: (reply: HttpReply, presentMs: number) => BarsPage
  /** Statuses, besides the successes, that `page` reads. */
  readonly also?: readonly number[]
  /** One unless said otherwise; beyond it the request is refused, never cut short. */
  readonly pagesMax?: number
}

export interface BarsPage extends Paged {
  readonly bars: readonly Bar[]
  /** The broker's time of the answer, milliseconds since the epoch; absent or null: it does not report that. */
  readonly clockMs?: number | null
}

interface MarketLogin<Resource extends string> {
  readonly calls: Pick<ResourceCalls<Resource>, 'of'>
  readonly reads: Pick<Reads<Resource>, 'list'>
  readonly clock: Clock
}

export class RestMarket<Resource extends string> implements MarketSource, AsyncDisposable {
  readonly clock: MarketClock
  readonly #login: MarketLogin<Resource>
  readonly #known: TtlCache<MarketInstrument | null>
  readonly #expirations: TtlCache<readonly Day[]>
  readonly #definition: MarketDefinition<Resource>

  /** `define` may keep the market, and must not use it yet. `coarseMs` is as of {@link MarketClock}. */
  constructor(login: MarketLogin<Resource>, define: (market: RestMarket<Resource>) => MarketDefinition<Resource>, coarseMs?: number) {
    const { clock } = login
    this.clock = new MarketClock(clock, coarseMs)
    this.#login = login
    this.#known = instrumentCache(clock)
    this.#definition = define(this)
    this.#expirations = new TtlCache({ clock, max: UNDERLYINGS_MAX, forMs: this.#definition.expirationsForMs ?? 0 })
  }

  presentMs(): number {
    return this.clock.nowMs()
  }

  async instrument(symbol: string, signal: AbortSignal): Promise<MarketInstrument | null> {
    const known = this.#known.get(symbol)
    if (known !== undefined) return known
    const { instrument, clock } = this.#definition
    const [found] = this.#mayHave(symbol, 'data')
      ? (await Promise.all([this.#read(instrument, symbol, signal), clock === undefined ? null : this.#sync(clock, signal)]))[0]
      : []
    this.#known.put(symbol, found ?? null)
    return found ?? null
  }

  /** What is known from a list need not be requested. */
  remember(instrument: MarketInstrument): void {
    this.#known.put(instrument.symbol, instrument)
  }

  async *bars(request: BarsRequest, signal: AbortSignal): AsyncGenerator<readonly Bar[], void, undefined> {
    const { broker, bars } = this.#definition
    const known = await this.instrument(request.symbol, signal)
    // A symbol that the broker does not know may look like one without a trade.
    if (known === null) throw new BrokerFault('refused', `${broker} does not know ${request.symbol}`)
    let lastMs = Number.NEGATIVE_INFINITY
    for (const window of bars.windows(request, known, this.presentMs())) {
      // A window may begin with the last bar of the one before.
      const beforeMs = lastMs
      for await (const { bars: all } of pages(window.pagesMax ?? 1, cursor => this.#barsPage(window, cursor, signal))) {
        const page = all.filter(({ startMs }) => startMs > beforeMs)
        for (const { startMs } of page) {
          if (startMs <= lastMs) throw new BrokerFault('malformed', "the broker's bars do not ascend")
          lastMs = startMs
        }
        if (page.length > 0) yield page
      }
    }
    const rest = (await bars.rest?.(request, known, lastMs, signal)) ?? []
    if (rest.length > 0) yield rest
  }

  async expirations(underlying: string, signal: AbortSignal): Promise<readonly Day[]> {
    if (!this.#mayHave(underlying, 'options')) return []
    const known = this.#expirations.get(underlying)
    if (known !== undefined) return known
    const days = [...new Set(await this.#read(this.#definition.expirations, underlying, signal))].toSorted()
    this.#expirations.put(underlying, days)
    return days
  }

  async chain(underlying: string, expiration: Day, signal: AbortSignal): Promise<readonly ChainEntry[]> {
    const { chain } = this.#definition
    const query = { underlying, expiration }
    if (!this.#mayHave(underlying, 'options')) return []
    return await (typeof chain === 'function' ? chain(query, signal) : this.#read(chain, query, signal))
  }

  async search(text: string, signal: AbortSignal): Promise<readonly FoundSymbol[]> {
    const { searches, broker } = this.#definition
    if (searches.length === 0) throw new BrokerFault('refused', `${broker} has no search for symbols`)
    const found = await Promise.all(searches.map(search => this.#read(search, text, signal)))
    return found.flatMap(known => known.slice(0, SYMBOLS_FOUND_MAX / searches.length))
  }

  stream(topic: Topic, sink: TopicSink): TopicLease {
    return this.#definition.streams.stream(topic, sink)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#definition.streams[Symbol.asyncDispose]()
  }

  #mayHave(symbol: string, what: 'data' | 'options'): boolean {
    return this.#definition.mayHave?.(symbol, what) ?? true
  }

  async #read<Query, T>(read: ListRead<Resource, Query, T>, query: Query, signal: AbortSignal): Promise<readonly T[]> {
    const { known, brokerClock } = await this.#login.reads.list(read, query, signal)
    if (brokerClock !== undefined) this.clock.sync(epochMs(brokerClock))
    return known
  }

  async #sync({ resource, request, parse }: NonNullable<MarketDefinition<Resource>['clock']>, signal: AbortSignal): Promise<void> {
    this.clock.sync(await this.#login.calls.of(resource).read(request, parse, signal))
  }

  async #barsPage(
    { resource, request, page, also = [] }: BarsWindow<Resource>,
    cursor: string | null,
    signal: AbortSignal
  ): Promise<BarsPage> {
    const presentMs = this.presentMs()
    const read = (reply: HttpReply) => page(reply, presentMs)
    const found = await this.#login.calls.of(resource).read(request(cursor), read, signal, { also })
    if (typeof found.clockMs === 'number') this.clock.sync(found.clockMs)
    return found
  }
}
