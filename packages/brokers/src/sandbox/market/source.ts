/** The sandbox's market data of one login: its stream, and what is read beside it. */

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
import { instrumentCache, type TtlCache } from '../../kit/bounded-cache.ts'
import { type Calls, isSuccess } from '../../kit/calls.ts'
import type { HttpReply } from '../../kit/http.ts'
import { MarketClock } from '../../kit/market-clock.ts'
import { pages } from '../../kit/pages.ts'
import { day, list, timestamp } from '../../kit/parse.ts'
import type { ConnectionOptions } from '../../kit/stream-connection.ts'
import type { TokenSource } from '../../kit/tokens.ts'
import { isUnknown, readAnswer } from '../codecs.ts'
import { get } from '../orders.ts'
import { barsRequest, parseBarsPage } from './bars.ts'
import { chainEntry } from './chain.ts'
import { MarketFeed } from './feed.ts'
import { foundSymbol, parseInstrument } from './instruments.ts'

/** Pages of bars in one request: four times what one may read. */
const PAGES_MAX = 100

export interface MarketOptions {
  readonly url: string
  readonly calls: Calls
  readonly tokens: TokenSource
  readonly connection: ConnectionOptions
  readonly clock: Clock
}

export class SandboxMarket implements MarketSource, AsyncDisposable {
  readonly #calls: Calls
  readonly #marketClock: MarketClock
  readonly #instruments: TtlCache<MarketInstrument | null>
  readonly #feed: MarketFeed

  constructor({ url, calls, tokens, connection, clock }: MarketOptions) {
    this.#calls = calls
    this.#marketClock = new MarketClock(clock)
    this.#instruments = instrumentCache(clock)
    this.#feed = new MarketFeed({ url, tokens, connection, marketClock: this.#marketClock })
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
    let lastMs = Number.NEGATIVE_INFINITY
    const read = (cursor: string | null) => {
      const after = lastMs
      return this.#calls.read(barsRequest(request, cursor), reply => parseBarsPage(reply.body, after), signal)
    }
    for await (const page of pages(PAGES_MAX, read)) {
      this.#marketClock.sync(epochMs(page.sandboxTime))
      lastMs = page.bars.at(-1)?.startMs ?? lastMs
      if (page.bars.length > 0) yield page.bars
    }
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

  search(text: string, signal: AbortSignal): Promise<readonly FoundSymbol[]> {
    const request = get('/instruments', { search: text, limit: String(SYMBOLS_FOUND_MAX) })
    return this.#calls.read(request, reply => list(readAnswer(reply.body), 'items', foundSymbol), signal)
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
