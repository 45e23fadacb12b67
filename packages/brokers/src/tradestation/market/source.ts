/** TradeStation's market data of one login: its streams, and what is read beside them. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { Bar, ChainEntry } from '@trunkline/core/domain/market/records'
import { parseSymbol } from '@trunkline/core/domain/symbol'
import type { Day } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { BarsRequest, MarketInstrument, MarketSource, Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { instrumentCache, type TtlCache } from '../../kit/bounded-cache.ts'
import { type Calls, isSuccess } from '../../kit/calls.ts'
import { brokerNowMs, type HttpReply } from '../../kit/http.ts'
import { MarketClock } from '../../kit/market-clock.ts'
import type { MarketHours } from '../../kit/market-hours.ts'
import type { RateLimiter } from '../../kit/rate-limiter.ts'
import { get } from '../../kit/requests.ts'
import type { ConnectionOptions } from '../../kit/stream-connection.ts'
import { refusedLater } from '../../kit/subscription.ts'
import type { TokenSource } from '../../kit/tokens.ts'
import { errorOf, errorsOf, isPassing, type Resource, readAnswer, records } from '../quirks.ts'
import { brokerSymbol } from '../symbols.ts'
import { barReader, barsPath, barsRequest, INTERVALS, parseBars, stretches, TIME_MAX } from './bars.ts'
import { chainPath, expirationsPath, parseEntry, parseExpirations, parseStrikes, strikesPath } from './chain.ts'
import { depthPath, parseDepth } from './depth.ts'
import { parseInstrument } from './instruments.ts'
import { QuoteFeed } from './quote-feed.ts'
import { TopicFeed, type TopicStream } from './topic-feed.ts'
import { wholeChain } from './whole-chain.ts'

/** Requests that one window of bars may take: more minutes than a year has. */
const REQUESTS_MAX = 100
/** Order books, and chains, that one login may stream at once. */
const OPEN_MAX = 10

export interface MarketOptions {
  readonly apiUrl: string
  readonly hours: MarketHours
  readonly callsOf: (resource: Resource) => Calls
  readonly opensOf: (resource: Resource) => RateLimiter
  readonly tokens: TokenSource
  readonly connection: ConnectionOptions
  readonly clock: Clock
  readonly heartbeatMs: number
  /** Runs something at the end of this turn of the event loop; `setImmediate` unless a test says otherwise. */
  readonly schedule?: (work: () => void) => void
}

export class TradestationMarket implements MarketSource, AsyncDisposable {
  readonly #options: MarketOptions
  readonly #marketClock: MarketClock
  readonly #instruments: TtlCache<MarketInstrument | null>
  readonly #quotes: QuoteFeed
  readonly #topics: TopicFeed
  readonly #schedule: (work: () => void) => void

  constructor(options: MarketOptions) {
    this.#options = options
    this.#schedule = options.schedule ?? setImmediate
    this.#marketClock = new MarketClock(options.clock)
    this.#instruments = instrumentCache(options.clock)
    const shared = { ...options, schedule: this.#schedule, marketClock: this.#marketClock }
    this.#quotes = new QuoteFeed({ ...shared, opens: options.opensOf('quote_streams') })
    this.#topics = new TopicFeed(shared)
  }

  presentMs(): number {
    return this.#marketClock.nowMs()
  }

  async instrument(symbol: string, signal: AbortSignal): Promise<MarketInstrument | null> {
    const known = this.#instruments.get(symbol)
    if (known !== undefined) return known
    const broker = spelling(symbol)
    const request = broker === null ? null : get(`/marketdata/symbols/${encodeURIComponent(broker)}`)
    const found =
      request === null
        ? null
        : await this.#options.callsOf('symbols').read(request, reply => this.#instrument(reply, symbol), signal, { also: [400, 404] })
    this.#instruments.put(symbol, found)
    return found
  }

  async *bars(request: BarsRequest, signal: AbortSignal): AsyncGenerator<readonly Bar[], void, undefined> {
    const { symbol, interval, fromMs, toMs } = request
    if (!(fromMs >= 0 && fromMs <= toMs && toMs <= TIME_MAX))
      throw new BrokerFault(
        'refused',
        `bars are requested from one time to a later one between 1970 and 9999, not from ${fromMs} to ${toMs}`
      )
    if (!Object.hasOwn(INTERVALS, interval)) throw new BrokerFault('refused', `the broker has no bars of ${interval}`)
    const instrument = await this.instrument(symbol, signal)
    if (instrument === null) throw new BrokerFault('refused', `the broker does not know ${symbol}`)
    // Nothing has traded in what is to come; a day more, because the broker's clock may be ahead of what is believed of it.
    const end = Math.min(toMs, this.#marketClock.nowMs() + DAY_MS)
    const parts = stretches({ ...request, toMs: end })
    if (parts.length > REQUESTS_MAX)
      throw new BrokerFault('refused', `the bars take more than ${REQUESTS_MAX} requests; request a shorter time`)
    for (const part of parts) {
      const bars = await this.#options
        .callsOf('bars')
        .read(
          barsRequest(
            brokerSymbol(symbol, instrument.instrument),
            interval,
            { instrument: instrument.instrument, hours: this.#options.hours },
            part
          ),
          reply => this.#bars(reply, () => parseBars(reply.body, interval, instrument.calendar, part)),
          signal,
          { also: [404] }
        )
      if (bars.length > 0) yield bars
    }
  }

  async expirations(underlying: string, signal: AbortSignal): Promise<readonly Day[]> {
    const broker = spelling(underlying)
    if (broker === null) return []
    return await this.#listed(expirationsPath(broker), parseExpirations, signal)
  }

  async chain(underlying: string, expiration: Day, signal: AbortSignal): Promise<readonly ChainEntry[]> {
    const broker = spelling(underlying)
    if (broker === null) return []
    const strikes = await this.#listed(strikesPath(broker, expiration), parseStrikes, signal)
    const topic = { channel: 'options_chain', symbol: underlying, expiration } as const
    const how = this.#chain(topic, broker)
    if (this.#topics.openOf(how.kind) >= OPEN_MAX)
      throw new BrokerFault('unreachable', `TradeStation streams at most ${OPEN_MAX} chains at once, and so many are followed`)
    return await wholeChain(strikes, sink => this.#topics.stream(topic, sink, how), signal)
  }

  /** What is listed of an underlying's options; nothing where the broker knows none. */
  async #listed<T>(path: string, parse: (body: string) => readonly T[], signal: AbortSignal): Promise<readonly T[]> {
    const read = (reply: HttpReply) => {
      this.#syncTime(reply)
      if (isSuccess(reply.status)) return isRefusal(reply) ? [] : parse(reply.body)
      return unknownSymbol(reply) ? [] : this.#refuse(reply)
    }
    return await this.#options.callsOf('options').read(get(path), read, signal, { also: [400, 404] })
  }

  search(): Promise<never> {
    return Promise.reject(new BrokerFault('refused', 'TradeStation has no search for symbols'))
  }

  stream(topic: Topic, sink: TopicSink): TopicLease {
    if (topic.channel === 'quotes' || topic.channel === 'trades') return this.#quotes.stream(topic, sink)
    const broker = spelling(topic.symbol)
    const how = broker === null ? null : this.#howOf(topic, broker)
    if (how !== null) return this.#topics.stream(topic, sink, how)
    return refusedLater(sink, `the broker has no ${topic.channel} of ${topic.symbol}`, this.#schedule)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#quotes[Symbol.asyncDispose](), this.#topics[Symbol.asyncDispose]()])
  }

  #howOf(topic: Exclude<Topic, { channel: 'quotes' | 'trades' }>, broker: string): TopicStream | null {
    switch (topic.channel) {
      case 'depth':
        return {
          path: depthPath(broker),
          kind: 'depth',
          openMax: OPEN_MAX,
          opens: this.#options.opensOf('depth_streams'),
          reader: sink => wire => sink.depth(parseDepth(wire))
        }
      case 'options_chain':
        return this.#chain(topic, broker)
      case 'bars': {
        if (topic.interval !== '1m') return null
        return {
          path: barsPath(broker, { instrument: parseSymbol(topic.symbol).instrument, hours: this.#options.hours }),
          kind: 'bars',
          openMax: null,
          opens: this.#options.opensOf('bar_streams'),
          reader: sink => barReader(sink, this.#marketClock)
        }
      }
    }
  }

  #chain({ expiration }: { readonly expiration: Day }, broker: string): TopicStream {
    return {
      path: chainPath(broker, expiration),
      kind: 'options_chain',
      openMax: OPEN_MAX,
      opens: this.#options.opensOf('options'),
      reader: sink => wire => {
        const entry = parseEntry(wire, expiration)
        if (entry !== null) sink.chain(entry)
      }
    }
  }

  #instrument(reply: HttpReply, symbol: string): MarketInstrument | null {
    this.#syncTime(reply)
    if (!isSuccess(reply.status)) return unknownSymbol(reply) ? null : this.#refuse(reply)
    const answer = readAnswer(reply.body)
    const [found] = records(answer, 'Symbols')
    if (found !== undefined) return parseInstrument(found, symbol, this.#options.hours)
    const [error] = errorsOf(answer)
    if (error === undefined) throw new Malformed('Symbols', 'the requested symbol, or an error', answer)
    if (isPassing(error)) throw new BrokerFault('unreachable', `the broker could not look the symbol up: ${error.message}`)
    return null
  }

  /** Refusals come with a success too. @throws BrokerFault */
  #bars(reply: HttpReply, parse: () => readonly Bar[]): readonly Bar[] {
    this.#syncTime(reply)
    return !isSuccess(reply.status) || isRefusal(reply) ? this.#refuse(reply) : parse()
  }

  #refuse(reply: HttpReply): never {
    const error = errorOf(readAnswer(reply.body))
    throw new BrokerFault(isPassing(error) ? 'unreachable' : 'refused', `the broker refused: ${error.message}`)
  }

  #syncTime(reply: HttpReply): void {
    const nowMs = brokerNowMs(reply)
    if (nowMs !== null) this.#marketClock.sync(nowMs)
  }
}

const DAY_MS = 86_400_000

/** The broker's spelling; null for a symbol that it cannot have. */
function spelling(symbol: string): string | null {
  try {
    return brokerSymbol(symbol)
  } catch {
    return null
  }
}

function isRefusal({ body }: HttpReply): boolean {
  return typeof readAnswer(body).Error === 'string'
}

/** Whether an answer that is no success says that there is no such symbol. @throws Malformed */
function unknownSymbol({ body }: HttpReply): boolean {
  const { code, message } = errorOf(readAnswer(body))
  return code === 'NotFound' || /symbol/i.test(message)
}
