/** Trades and quotes of one login over one connection: opened with the first topic, closed a little after the last. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import type { GapCause } from '@trunkline/core/ports/gap'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { FlushScheduler, PendingTasks } from '../../kit/flush-scheduler.ts'
import type { Wire } from '../../kit/parse.ts'
import { SharedStream } from '../../kit/shared-stream.ts'
import type { ConnectionOptions } from '../../kit/stream-connection.ts'
import { gapOf, StreamFault } from '../../kit/stream-fault.ts'
import type { Connection, StreamMessage, StreamProtocol } from '../../kit/stream-protocol.ts'
import { keyOf, leased, Subscription } from '../../kit/subscription.ts'
import { toTradier } from '../symbols.ts'
import { dispatch, newSymbolSinks, StreamComplaint, type SymbolSinks } from './items.ts'
import { latestMs, quoteOf } from './quotes.ts'

/** A current quote that could not be read is requested again after so long. */
const AGAIN_MS = 2_000
/** A quote this much later than the stream's last message shows that the stream does not deliver. */
const BEHIND_MS = 5_000
const PING_MS = 20_000

export interface FeedOptions {
  readonly url: string
  readonly connection: ConnectionOptions
  readonly session: (signal: AbortSignal) => Promise<string>
  /** Silence this long is checked: the market stream has no heartbeat. */
  readonly quietMs: number
  /** Quotes by Tradier's symbol; those it does not know are left out. @throws BrokerFault */
  readonly quotes: (symbols: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, Wire>>
  /** Something happened at this time, milliseconds since the epoch. */
  readonly happened: (ms: number) => void
}

export class MarketFeed implements AsyncDisposable {
  readonly #options: FeedOptions
  readonly #wanted = new Map<string, Subscription>()
  readonly #sinks = new Map<string, SymbolSinks>()
  readonly #closing = new AbortController()
  readonly #presentReads = new PendingTasks()
  /** What has changed in this turn of the event loop, in one request. */
  readonly #changed = new FlushScheduler(() => this.#settle())
  readonly #connection: SharedStream
  #protocol: MarketProtocol | null = null
  #again: Disposable | null = null
  /** The latest time in any message, milliseconds since the epoch by Tradier's clock. */
  #newestMs = 0
  /** What was last requested on the current connection. */
  #requested = ''

  constructor(options: FeedOptions) {
    const { url, connection, session, quietMs } = options
    this.#options = options
    this.#connection = new SharedStream({
      connection,
      begin: async signal => new MarketProtocol(`${url}/markets/events`, await session(signal), this, quietMs),
      lost: (cause, reason) => this.#lost(cause, reason),
      stopped: () => {
        this.#again?.[Symbol.dispose]()
        this.#again = null
        this.#protocol = null
      }
    })
  }

  /** @throws Error when the topic is streamed already. */
  stream(topic: Topic, sink: TopicSink): TopicLease {
    const subscription = new Subscription(topic, sink)
    const lease = leased(this.#wanted, keyOf(topic), subscription, {
      renew: () => {
        this.#route(subscription, false)
        subscription.lost('silence', 'nothing was received for too long, so it was requested again')
        this.#connection.mayOpen()
        this.#requested = ''
        this.#changed.schedule()
      },
      letGo: () => {
        this.#route(subscription, false)
        subscription.end()
        this.#changed.schedule()
      }
    })
    this.#connection.mayOpen()
    this.#changed.schedule()
    return lease
  }

  opened(protocol: MarketProtocol): void {
    this.#protocol = protocol
    this.#requested = ''
    this.#changed.schedule()
  }

  /** @throws StreamFault, Malformed */
  handleFrame(frame: string): void {
    try {
      this.#advance(dispatch(frame, this.#sinks))
    } catch (error) {
      throw error instanceof StreamComplaint ? new StreamFault('refused', `Tradier refused the market stream: ${error.message}`) : error
    }
  }

  /** Whether the quotes show a time that the stream should have delivered. @throws StreamFault */
  async look(signal: AbortSignal): Promise<void> {
    const live = [...this.#wanted.values()].filter(({ isLive }) => isLive)
    if (live.length === 0) return
    const quotes = await this.#options.quotes([...new Set(live.map(({ topic }) => toTradier(topic.symbol)))], signal).catch(() => null)
    const times = live.map(({ topic }) => {
      const quote = quotes?.get(toTradier(topic.symbol))
      return quote === undefined ? 0 : latestMs(quote, topic.channel === 'trades' ? ['trade_date'] : ['bid_date', 'ask_date'])
    })
    const newestMs = Math.max(...times)
    if (newestMs > this.#newestMs + BEHIND_MS) throw new StreamFault('silence', 'quotes change, and the market stream does not deliver')
  }

  #advance(ms: number): void {
    this.#newestMs = Math.max(this.#newestMs, ms)
    this.#options.happened(ms)
  }

  /** Nothing is published any more. Resolves once the socket is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the login was closed'))
    this.#wanted.clear()
    this.#sinks.clear()
    this.#changed[Symbol.dispose]()
    await Promise.all([this.#connection[Symbol.asyncDispose](), this.#presentReads.over()])
  }

  #settle(): void {
    if (this.#wanted.size === 0) {
      this.#connection.release()
      return
    }
    this.#connection.hold()
    this.#connection.open()
    if (this.#protocol === null) return
    // The list replaces the one before; symbols that are no longer wanted are dropped with the next one.
    const symbols = [...new Set([...this.#wanted.values()].map(({ topic }) => toTradier(topic.symbol)))].sort()
    const requested = symbols.join()
    if (requested !== this.#requested) this.#protocol.subscribe(symbols)
    this.#requested = requested
    if ([...this.#wanted.values()].some(({ isLive }) => !isLive)) this.#presentReads.add(this.#readPresent(this.#protocol))
  }

  /** The stream acknowledges nothing and begins with nothing: the current state is read, which also shows what Tradier does not know. */
  async #readPresent(protocol: MarketProtocol): Promise<void> {
    const waiting = [...this.#wanted.values()].filter(({ isLive }) => !isLive)
    const symbols = [...new Set(waiting.map(({ topic }) => toTradier(topic.symbol)))]
    const isStill = () => this.#protocol === protocol && !this.#closing.signal.aborted
    try {
      const quotes = await this.#options.quotes(symbols, this.#closing.signal)
      if (!isStill()) return
      for (const subscription of waiting) {
        const key = keyOf(subscription.topic)
        if (this.#wanted.get(key) !== subscription || subscription.isLive) continue
        const quote = quotes.get(toTradier(subscription.topic.symbol))
        if (quote === undefined) {
          this.#wanted.delete(key)
          subscription.refused(`Tradier has no market data of ${subscription.topic.symbol}`)
          continue
        }
        this.#route(subscription, true)
        subscription.live()
        this.#advance(latestMs(quote, ['bid_date', 'ask_date']))
        if (subscription.topic.channel === 'quotes') subscription.sink.quote(quoteOf(quote))
      }
    } catch (error) {
      if (!isStill()) return
      const { cause, reason } = gapOf(error)
      for (const subscription of waiting) if (!subscription.isLive) subscription.lost(isOver(error) ? 'token' : cause, reason)
      this.#again ??= this.#options.connection.clock.alarm(AGAIN_MS, () => {
        this.#again = null
        this.#changed.schedule()
      })
    }
  }

  /** Puts a topic's sink where the frames find it, or takes it away. */
  #route({ topic, sink }: Subscription, isThere: boolean): void {
    if (topic.channel !== 'trades' && topic.channel !== 'quotes') return
    const symbol = toTradier(topic.symbol)
    const sinks = this.#sinks.get(symbol) ?? newSymbolSinks(symbol)
    sinks[topic.channel] = isThere ? sink : null
    if (sinks.trades === null && sinks.quotes === null) this.#sinks.delete(symbol)
    else this.#sinks.set(symbol, sinks)
  }

  #lost(cause: GapCause, reason: string): void {
    this.#protocol = null
    this.#newestMs = 0
    this.#sinks.clear()
    for (const subscription of this.#wanted.values()) subscription.lost(cause, reason)
  }
}

class MarketProtocol implements StreamProtocol<never> {
  readonly url: string
  readonly hello = []
  readonly pingMs = PING_MS
  readonly #session: string
  readonly #feed: MarketFeed
  readonly #quietMs: number
  #connection: Connection<never> | null = null
  #isQuiet = false

  constructor(url: string, session: string, feed: MarketFeed, quietMs: number) {
    this.url = url
    this.#session = session
    this.#feed = feed
    this.#quietMs = quietMs
  }

  opened(connection: Connection<never>): void {
    this.#connection = connection
    connection.emit({ type: 'live', heartbeatMs: PING_MS })
    this.#feed.opened(this)
  }

  subscribe(symbols: readonly string[]): void {
    const request = {
      symbols,
      sessionid: this.#session,
      filter: ['quote', 'timesale'],
      linebreak: true,
      validOnly: true,
      advancedDetails: false
    }
    this.#connection?.send(JSON.stringify(request))
  }

  onFrame(frame: string): readonly StreamMessage<never>[] {
    this.#isQuiet = false
    this.#feed.handleFrame(frame)
    return []
  }

  async maintain(connection: Connection<never>): Promise<number> {
    if (this.#isQuiet) await this.#feed.look(connection.signal)
    this.#isQuiet = true
    return this.#quietMs
  }
}

function isOver(error: unknown): boolean {
  return error instanceof BrokerFault && error.kind === 'credentials_rejected'
}
