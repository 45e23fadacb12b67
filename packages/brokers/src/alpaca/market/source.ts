/** Alpaca's market data of one login: its streams, and what is read beside them. */

import type { Bar, ChainEntry } from '@trunkline/core/domain/market/records'
import { type Day, timestampOfMs, tradingDay } from '@trunkline/core/domain/timestamp'
import type { Instrument } from '@trunkline/core/domain/vocabulary'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { BarsRequest, MarketInstrument, MarketSource, Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { TtlCache } from '../../kit/bounded-cache.ts'
import type { Calls } from '../../kit/calls.ts'
import type { HttpReply, HttpRequest } from '../../kit/http.ts'
import { MarketClock } from '../../kit/market-clock.ts'
import { everyPage, pages } from '../../kit/pages.ts'
import type { Wire } from '../../kit/parse.ts'
import { get } from '../../kit/requests.ts'
import type { Login } from '../../kit/runtime/definition.ts'
import type { ConnectionOptions } from '../../kit/stream-connection.ts'
import { refusedLater } from '../../kit/subscription.ts'
import type { TokenSource } from '../../kit/tokens.ts'
import type { Resource } from '../quirks.ts'
import { instrumentOf, rootOf } from '../symbols.ts'
import { barsRequest, parseBarsPage } from './bars.ts'
import { ChainWatch } from './chain.ts'
import { JSON_CODEC, MESSAGE_PACK_CODEC } from './codec.ts'
import {
  type Contract,
  chainEntry,
  contractsRequest,
  type Page,
  parseContracts,
  parseLatestQuotes,
  parseSnapshots,
  snapshotsRequest
} from './contracts.ts'
import { MarketFeed } from './feed.ts'
import { Instruments } from './instruments.ts'
import { barOf, minutesLacking, parseTrades, tradesRequest } from './open-bar.ts'
import type { MarketSettings } from './settings.ts'

/** Pages of bars in one request: more minutes than a year has. */
const PAGES_MAX = 100
const EXPIRATIONS_MS = 600_000
const UNDERLYINGS_MAX = 1_000
/** Symbols whose current quotes are requested at once. */
const QUOTES_MAX = 100

interface MarketOptions {
  readonly calls: { readonly trading: Calls; readonly data: Calls }
  readonly tokens: TokenSource
  readonly hello: (token: string) => object
  readonly settings: MarketSettings
  readonly connection: ConnectionOptions
  readonly clock: Clock
  readonly log: Log
}

type Streamed = 'STK' | 'CRYPTO' | 'OPT'

export class AlpacaMarket implements MarketSource, AsyncDisposable {
  readonly #options: MarketOptions
  readonly #marketClock: MarketClock
  readonly #instruments: Instruments
  readonly #feeds: { readonly [instrument in Streamed]: MarketFeed }
  readonly #chains = new Set<ChainWatch>()
  readonly #expirations: TtlCache<readonly Day[]>

  /** `hello`: the first message of a stream. */
  constructor(
    settings: MarketSettings,
    { calls: of, tokens, socket, clock, log }: Pick<Login<Resource>, 'calls' | 'tokens' | 'socket' | 'clock' | 'log'>,
    hello: (token: string) => object
  ) {
    const calls = { trading: of.of('trading'), data: of.of('data') }
    this.#options = { calls, tokens, hello, settings, connection: socket, clock, log }
    this.#marketClock = new MarketClock(clock)
    this.#expirations = new TtlCache({ clock, max: UNDERLYINGS_MAX, forMs: EXPIRATIONS_MS })
    this.#instruments = new Instruments({ calls: calls.trading, clock, marketClock: this.#marketClock, hours: settings.hours })
    const { stockFeed, optionFeed } = settings
    this.#feeds = {
      STK: this.#feed(`/v2/${stockFeed}`, JSON_CODEC, symbols => get(`${rootOf('STK')}/quotes/latest`, { symbols, feed: stockFeed })),
      CRYPTO: this.#feed(rootOf('CRYPTO'), JSON_CODEC, symbols => get(`${rootOf('CRYPTO')}/latest/quotes`, { symbols })),
      OPT: this.#feed(`/v1beta1/${optionFeed}`, MESSAGE_PACK_CODEC, symbols =>
        get(`${rootOf('OPT')}/quotes/latest`, { symbols, feed: optionFeed })
      )
    }
  }

  presentMs(): number {
    return this.#marketClock.nowMs()
  }

  instrument(symbol: string, signal: AbortSignal): Promise<MarketInstrument | null> {
    return this.#instruments.find(symbol, signal)
  }

  async *bars(request: BarsRequest, signal: AbortSignal): AsyncGenerator<readonly Bar[], void, undefined> {
    const { symbol, interval, fromMs, toMs } = request
    const { stockFeed } = this.#options.settings
    const known = await this.#instruments.find(symbol, signal)
    if (known === null) throw new BrokerFault('refused', `Alpaca knows no symbol ${symbol}`)
    barsRequest(request, known.instrument, { stockFeed, from: null })
    if (fromMs === toMs) return
    let lastMs = Number.NEGATIVE_INFINITY
    const read = (from: string | null) => {
      const reading = { symbol, interval, afterMs: lastMs, presentMs: this.presentMs() }
      const requested = barsRequest(request, known.instrument, { stockFeed, from })
      return this.#options.calls.data.read(requested, reply => parseBarsPage(reply.body, reading), signal)
    }
    for await (const { bars } of pages(PAGES_MAX, read)) {
      lastMs = bars.at(-1)?.startMs ?? lastMs
      if (bars.length > 0) yield bars
    }
    const rest = interval === '1m' ? await this.#underWay(request, known.instrument, lastMs, signal) : []
    if (rest.length > 0) yield rest
  }

  /** The minutes that the history does not have yet, of their trades. */
  async #underWay(request: BarsRequest, instrument: Instrument, lastMs: number, signal: AbortSignal): Promise<readonly Bar[]> {
    // What ends while the answer is on its way is not known to its end.
    const presentMs = this.presentMs()
    const minutes = minutesLacking(request, lastMs, presentMs)
    const [fromMs] = minutes
    if (fromMs === undefined) return []
    const { calls, settings } = this.#options
    const { stockFeed } = settings
    const trades = await this.#every(
      next => tradesRequest(request.symbol, instrument, { stockFeed, fromMs, next }),
      ({ body }) => parseTrades(body, request.symbol),
      calls.data,
      signal
    )
    return minutes.flatMap(startMs => barOf(trades, startMs, presentMs) ?? [])
  }

  async expirations(underlying: string, signal: AbortSignal): Promise<readonly Day[]> {
    if (instrumentOf(underlying) !== 'STK') return []
    const known = this.#expirations.get(underlying)
    if (known !== undefined) return known
    const from = tradingDay(timestampOfMs(this.presentMs()))
    const contracts = await this.#every(
      next => contractsRequest(underlying, { from }, next),
      parseContracts,
      this.#options.calls.trading,
      signal
    )
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
    if (topic.channel === 'options_chain') return this.#chain(topic, sink)
    const instrument = streamedAs(instrumentOf(topic.symbol))
    if (topic.channel === 'bars') return refusedLater(sink, 'Alpaca’s bars are built from its trades')
    if (topic.channel === 'depth' && instrument !== 'CRYPTO')
      return refusedLater(sink, `Alpaca has order books of crypto only, not of ${topic.symbol}.`)
    return this.#feeds[instrument].stream({ channel: topic.channel, symbol: topic.symbol }, sink)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...Object.values(this.#feeds), ...this.#chains].map(part => part[Symbol.asyncDispose]()))
  }

  #feed(path: string, codec: typeof JSON_CODEC, quotes: (symbols: string) => HttpRequest): MarketFeed {
    const { settings, tokens, hello, connection } = this.#options
    return new MarketFeed({
      url: `${settings.dataStreamUrl}${path}`,
      pingMs: settings.pingMs,
      ...{ codec, tokens, hello, connection, marketClock: this.#marketClock },
      isKnown: async (symbol, signal) => (await this.#instruments.find(symbol, signal)) !== null,
      quotes: (symbols, signal) => this.#quotes(symbols, quotes, signal)
    })
  }

  /** Never rejects: a quote that cannot be read now comes with the next one. */
  async #quotes(symbols: readonly string[], request: (symbols: string) => HttpRequest, signal: AbortSignal): Promise<readonly unknown[]> {
    const { calls, log } = this.#options
    const found: unknown[] = []
    for (let from = 0; from < symbols.length; from += QUOTES_MAX) {
      const some = symbols.slice(from, from + QUOTES_MAX).join(',')
      try {
        found.push(...(await calls.data.read(request(some), parseLatestQuotes, signal)))
      } catch (error) {
        if (!signal.aborted) log.info('present quotes could not be read', { reason: error instanceof Error ? error.message : 'unknown' })
      }
    }
    return found
  }

  #chain({ symbol, expiration }: { readonly symbol: string; readonly expiration: Day }, sink: TopicSink): TopicLease {
    const { clock, connection } = this.#options
    const watch = new ChainWatch(
      {
        ...{ clock, fraction: connection.fraction, marketClock: this.#marketClock },
        contracts: (underlying, day, signal) => this.#contracts(underlying, day, signal),
        snapshots: (underlying, day, signal) => this.#snapshots(underlying, day, signal),
        quotes: (contract, follower) => this.#feeds.OPT.stream({ channel: 'quotes', symbol: contract }, follower, { isOfChain: true })
      },
      { symbol, expiration },
      sink
    )
    this.#chains.add(watch)
    return {
      renew: () => watch.renew(),
      [Symbol.dispose]: () => {
        watch[Symbol.dispose]()
        this.#chains.delete(watch)
      }
    }
  }

  async #contracts(underlying: string, expiration: Day, signal: AbortSignal): Promise<readonly Contract[]> {
    const request = (next: string | null) => contractsRequest(underlying, { on: expiration }, next)
    const found = await this.#every(request, parseContracts, this.#options.calls.trading, signal)
    for (const contract of found) this.#instruments.remember(contract.symbol)
    return found
  }

  /** The market of each contract that has one, by its symbol. */
  async #snapshots(underlying: string, expiration: Day, signal: AbortSignal): Promise<ReadonlyMap<string, Wire>> {
    const { calls, settings } = this.#options
    const request = (next: string | null) => snapshotsRequest(underlying, expiration, { optionFeed: settings.optionFeed, next })
    return new Map(await this.#every(request, parseSnapshots, calls.data, signal))
  }

  /** Every page or a fault. */
  async #every<T>(
    request: (next: string | null) => HttpRequest,
    parse: (reply: HttpReply) => Page<T>,
    calls: Calls,
    signal: AbortSignal
  ): Promise<readonly T[]> {
    const all = await everyPage(PAGES_MAX, next => calls.read(request(next), parse, signal))
    return all.flatMap(({ items }) => items)
  }
}

/** An unknown symbol is looked up among the shares. */
function streamedAs(instrument: Instrument): Streamed {
  return instrument === 'CRYPTO' || instrument === 'OPT' ? instrument : 'STK'
}
