import { OutsideCalendar } from '../../domain/calendar/index.ts'
import { Malformed } from '../../domain/malformed.ts'
import type { ChainEntry, Quote } from '../../domain/market/records.ts'
import { parseSymbol } from '../../domain/symbol.ts'
import { type Day, parseDay, type Timestamp, timestampOfMs } from '../../domain/timestamp.ts'
import { SESSIONS, type Session } from '../../domain/vocabulary.ts'
import { type BrokerCapabilities, BrokerFault } from '../../ports/broker.ts'
import type { Clock } from '../../ports/clock.ts'
import type { GapCause } from '../../ports/gap.ts'
import type { Log } from '../../ports/log.ts'
import type { FoundSymbol, MarketInstrument, MarketSource, Topic } from '../../ports/market.ts'
import type { Meter } from '../../ports/meter.ts'
import { setBounded } from '../bounded-map.ts'
import { Semaphore } from '../semaphore.ts'
import { limited } from '../time-limits.ts'
import type { Timing } from '../timing.ts'
import { BarFeeds } from './bar-feeds.ts'
import { type FirstBars, History, type PastBars, type SnapshotRequest } from './history.ts'
import { MarketRefusal } from './refusal.ts'
import { sessionTrades } from './session-trades.ts'
import { CHAIN_MS, CHAINS_AT_ONCE, lastQuote, orderedChain, ranked } from './single-reads.ts'
import { TopicWatch } from './topic-watch.ts'
import { Topics } from './topics.ts'
import { Watchdog } from './watchdog.ts'
import type { Watch, WatchRequest } from './watcher.ts'

export interface ConnectionMarketDeps {
  readonly clock: Clock
  readonly log: Log
  readonly meter: Meter
  readonly timing: Timing
  /** Resolves when the next slice of long work may run. @throws the signal's reason if it aborts before */
  readonly nextSlice: (signal: AbortSignal) => Promise<void>
}

export interface ConnectionMarketParts {
  readonly source: MarketSource
  readonly broker: BrokerCapabilities
  /** Called with every fault of the broker; returns whether the connection is broken now. */
  readonly failed: (cause: unknown) => Promise<boolean>
  /** Called with every loss of a topic. */
  readonly lost: (cause: GapCause) => void
}

const INSTRUMENTS_MAX = 5_000
/** Concurrent look-ups at the broker, bounded so that each is answered in time. */
const LOOK_UPS_AT_ONCE = 8

/** The market data of one connection: its streams, shared by all subscribers, and its history. */
export class ConnectionMarket {
  readonly #parts: ConnectionMarketParts
  readonly #deps: ConnectionMarketDeps
  readonly #topics: Topics
  readonly #bars: BarFeeds
  readonly #history: History
  readonly #watchdog = new Watchdog()
  readonly #lookUps: Semaphore<'look-up'>
  readonly #chains: Semaphore<'chain'>
  readonly #stopping = new AbortController()
  /** Instruments requested so far, for the watchdog, which cannot wait for a look-up. */
  readonly #instruments = new Map<string, MarketInstrument>()

  constructor(deps: ConnectionMarketDeps, parts: ConnectionMarketParts) {
    this.#deps = deps
    this.#parts = parts
    const { source, broker } = parts
    this.#lookUps = new Semaphore(deps.clock, { atOnce: LOOK_UPS_AT_ONCE, ms: deps.timing.readMs })
    this.#chains = new Semaphore(deps.clock, { atOnce: CHAINS_AT_ONCE, ms: CHAIN_MS })
    this.#topics = new Topics(source, deps.clock, parts.lost)
    this.#history = new History(deps, source, broker.marketData)
    this.#bars = new BarFeeds(deps, { source, marketData: broker.marketData, topics: this.#topics, history: this.#history })
  }

  /** The number of topics that the broker streams. */
  get topics(): number {
    return this.#topics.size
  }

  /** Checks a request and subscribes at the broker; events are delivered from {@link Watch.begin} on. @throws MarketRefusal */
  async watch(request: WatchRequest): Promise<Watch> {
    this.#demandChannel(request.channel)
    const instrument = await this.#instrument(request.symbol)
    const { symbol } = instrument
    switch (request.channel) {
      case 'quotes':
      case 'depth':
        return this.#topic({ channel: request.channel, symbol })
      case 'trades': {
        const filter = sessionTrades(this.#session(request.session, instrument), instrument)
        return this.#topic({ channel: 'trades', symbol }, filter)
      }
      case 'options_chain':
        return this.#topic({ channel: 'options_chain', symbol, expiration: await this.#expiration(symbol, request.expiration) })
      case 'bars': {
        const session = this.#session(request.session, instrument)
        return this.#request(() => this.#bars.watch({ instrument, interval: request.interval, session, backfill: request.backfill }))
      }
    }
  }

  /** Past bars in pages, ascending, in the broker's own session. @throws MarketRefusal, before the first page or between two */
  async *past(request: SnapshotRequest): PastBars {
    this.#demandChannel('bars')
    const instrument = await this.#instrument(request.symbol)
    try {
      yield* this.#history.snapshot(instrument, request)
    } catch (cause) {
      throw await this.#refusalOf(cause)
    }
  }

  /** The first bars of a snapshot. Snapshots of many bars wait for one another. @throws MarketRefusal */
  async firstBars(request: SnapshotRequest, count: number): Promise<FirstBars> {
    this.#demandChannel('bars')
    const instrument = await this.#instrument(request.symbol)
    return this.#request(() => this.#history.first(instrument, request, count))
  }

  /** Symbols by their beginning or by parts of their names, the likeliest first. @throws MarketRefusal */
  async search(text: string): Promise<readonly FoundSymbol[]> {
    const { name, marketData } = this.#parts.broker
    if (!marketData.symbolSearch) throw new MarketRefusal('unsupported_channel', `${name} has no search for symbols.`)
    return ranked(await this.#request(() => this.#limited(signal => this.#parts.source.search(text, signal))), text)
  }

  /** The expirations of an underlying's options, ascending; empty if it has none. @throws MarketRefusal */
  async expirations(symbol: string): Promise<readonly Day[]> {
    this.#demandChannel('options_chain')
    const instrument = await this.#instrument(symbol)
    return this.#request(() => this.#limited(signal => this.#parts.source.expirations(instrument.symbol, signal)))
  }

  /**
   * Every option contract that expires on a day, with its present market, by strike, calls first.
   * @throws MarketRefusal, also if there are too many
   */
  async chain(symbol: string, day: string): Promise<readonly ChainEntry[]> {
    this.#demandChannel('options_chain')
    const { symbol: underlying } = await this.#instrument(symbol)
    const expiration = await this.#expiration(underlying, day)
    const { clock } = this.#deps
    const read = (signal: AbortSignal) => this.#parts.source.chain(underlying, expiration, signal)
    const take = () => this.#chains.take('chain', () => limited(clock, CHAIN_MS, read, this.#stopping.signal), this.#stopping.signal)
    return orderedChain(await this.#request(take))
  }

  /** The present best bid and ask; null if the broker streams the symbol but sends no quote. @throws MarketRefusal */
  async quote(symbol: string): Promise<Quote | null> {
    return lastQuote(this.#deps.clock, await this.watch({ channel: 'quotes', symbol }), this.#stopping.signal)
  }

  /** The market's present by the broker's time. */
  present(): Timestamp {
    return timestampOfMs(this.#parts.source.presentMs())
  }

  /** Subscribes to every topic again at the broker. */
  renew(): void {
    for (const topic of this.#topics.all()) topic.renew()
  }

  /** Must be called about once a second. */
  tick(): void {
    const presentMs = this.#parts.source.presentMs()
    for (const topic of this.#topics.all()) this.#watchdog.look(topic, this.#instruments.get(topic.topic.symbol) ?? null, presentMs)
    this.#bars.tick(presentMs)
  }

  end(): void {
    const givenUp = new MarketRefusal('broker_unavailable', 'The connection was closed just now; try again in a few seconds.')
    this.#stopping.abort(givenUp)
    this.#bars.end(givenUp)
    this.#history.end(givenUp)
    this.#topics.end()
  }

  async #topic(topic: Topic, filter: ((atMs: number) => boolean) | null = null): Promise<Watch> {
    return new TopicWatch(this.#topics, await this.#topics.join(topic), filter)
  }

  #demandChannel(channel: WatchRequest['channel']): void {
    const { name, marketData } = this.#parts.broker
    if (marketData.channels.includes(channel)) return
    throw new MarketRefusal('unsupported_channel', `${name} has no ${channel}; it has ${marketData.channels.join(', ')}.`)
  }

  async #instrument(text: string): Promise<MarketInstrument> {
    const symbol = text.replaceAll(' ', '')
    try {
      parseSymbol(text)
    } catch (cause) {
      if (!(cause instanceof Malformed)) throw cause
      throw new MarketRefusal('unsupported_symbol', `${cause.message}.`)
    }
    const found = await this.#request(() => this.#limited(signal => this.#parts.source.instrument(symbol, signal)))
    if (found === null) throw new MarketRefusal('unsupported_symbol', `${this.#parts.broker.name} has no market data of ${symbol}.`)
    setBounded(this.#instruments, found.symbol, found, INSTRUMENTS_MAX)
    return found
  }

  async #expiration(underlying: string, text: string): Promise<Day> {
    const expiration = parseDay(text, 'expiration')
    const listed = await this.#request(() => this.#limited(signal => this.#parts.source.expirations(underlying, signal)))
    if (listed.includes(expiration)) return expiration
    const some = listed.slice(0, 6).join(', ')
    const offer = listed.length === 0 ? 'it has no options' : `it has ${some}${listed.length > 6 ? ` and ${listed.length - 6} more` : ''}`
    throw new MarketRefusal('unsupported_symbol', `${underlying} has no options that expire on ${expiration}: ${offer}.`)
  }

  #session(text: string, { instrument }: MarketInstrument): Session {
    // Only shares have sessions; for other instruments the value is not read.
    if (instrument !== 'STK') return 'BrokerDefault'
    const { sessions, name } = this.#parts.broker
    const session = sessions.find(offered => offered === text)
    if (session !== undefined) return session
    const known = SESSIONS.some(candidate => candidate === text) ? `${name} does not offer ${text}` : 'the session is unknown'
    throw new MarketRefusal('unsupported_session', `${known}; choose one of ${sessions.join(', ')}.`)
  }

  /** @throws MarketRefusal for every fault of the broker. */
  async #request<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      throw await this.#refusalOf(cause)
    }
  }

  #limited<T>(read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, timing } = this.#deps
    return this.#lookUps.take('look-up', () => limited(clock, timing.readMs, read), this.#stopping.signal)
  }

  async #refusalOf(cause: unknown): Promise<unknown> {
    // Times from clients are checked before; this one is the broker's.
    if (cause instanceof OutsideCalendar) {
      return new MarketRefusal(
        'broker_unavailable',
        'The broker’s clock shows a time outside its market’s calendar; try again later.',
        cause
      )
    }
    if (!(cause instanceof BrokerFault)) return cause
    if (await this.#parts.failed(cause)) {
      return new MarketRefusal('connection_broken', 'The broker rejects this connection; have the user connect it again.', cause)
    }
    if (cause.kind === 'refused') return new MarketRefusal('unsupported_symbol', cause.message, cause)
    const why =
      cause.kind === 'rate_limited'
        ? 'The broker’s rate limit leaves no capacity at the moment'
        : 'The broker does not answer at the moment'
    return new MarketRefusal('broker_unavailable', `${why}; try again in a few seconds.`, cause)
  }
}
