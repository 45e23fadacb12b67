/**
 * A market feed by mode `full list`: one connection for all topics, each request replaces the list of symbols before, and the stream
 * acknowledges nothing and begins with nothing. Opened with the first topic, closed a little after the last.
 */

import type { Quote } from '@trunkline/core/domain/market/records'
import type { GapCause } from '@trunkline/core/ports/gap'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { FlushScheduler, PendingTasks } from '../flush-scheduler.ts'
import type { HttpReply, HttpRequest } from '../http.ts'
import type { Wire } from '../parse.ts'
import { SharedStream } from '../shared-stream.ts'
import type { ConnectionOptions } from '../stream-connection.ts'
import { lossOf, StreamFault } from '../stream-fault.ts'
import type { Connection, StreamMessage, StreamProtocol } from '../stream-protocol.ts'
import { keyOf, leased, Subscription } from '../subscription.ts'

/** A current quote that could not be read is requested again after so long. */
const AGAIN_MS = 2_000
/** A quote this much later than the stream's last message shows that the stream does not deliver. */
const BEHIND_MS = 5_000
const PING_MS = 20_000

export type Streamed = 'trades' | 'quotes'

/** `@throws Malformed` holds for every parser. */
export interface QuotesDefinition<Resource extends string> {
  /** For messages. */
  readonly broker: string
  readonly resource: Resource
  readonly toBroker: (symbol: string) => string
  /** Symbols in one request. */
  readonly max: number
  readonly request: (symbols: readonly string[]) => HttpRequest
  /** By the broker's symbol; without those that it does not know. */
  readonly parse: (reply: HttpReply) => ReadonlyMap<string, Wire>
  readonly quoteOf: (quote: Wire) => Quote
  /** The time of a quote's last change by the channel, in milliseconds since the epoch; 0: unknown. */
  readonly changedMs: (quote: Wire, channel: Streamed) => number
}

/** The sinks of a symbol, and whatever else its messages are read with. */
export type SymbolSinks = { [channel in Streamed]: TopicSink | null }

export interface FullListDefinition<Sinks extends SymbolSinks> {
  /** Gets the address of a new connection, and how its list of symbols is written. @throws BrokerFault */
  readonly begin: (signal: AbortSignal) => Promise<StreamAddress>
  /** After silence this long the quotes are compared with what was streamed: the stream has no heartbeat. */
  readonly quietMs: number
  readonly newSinks: (quote: Wire) => Sinks
  /**
   * Hands the content of a frame to its sinks, by the broker's symbol. Returns the latest time in it, milliseconds since the epoch; 0:
   * none.
   * @throws Malformed; StreamFault for the broker's message that it will not go on
   */
  readonly dispatch: (frame: string, table: ReadonlyMap<string, Sinks>) => number
}

export interface StreamAddress {
  readonly url: string
  readonly subscription: (symbols: readonly string[]) => string
}

export interface FullListOptions<Sinks extends SymbolSinks> {
  readonly definition: FullListDefinition<Sinks>
  readonly quotesDefinition: Pick<QuotesDefinition<string>, 'broker' | 'toBroker' | 'quoteOf' | 'changedMs'>
  readonly connection: ConnectionOptions
  /** Quotes by the broker's symbol; those it does not know are left out. @throws BrokerFault */
  readonly quotes: (symbols: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, Wire>>
  /** An event of this time occurred, milliseconds since the epoch. */
  readonly happened: (ms: number) => void
}

export class FullListFeed<Sinks extends SymbolSinks> implements AsyncDisposable {
  readonly #options: FullListOptions<Sinks>
  readonly #wanted = new Map<string, Subscription>()
  readonly #sinks = new Map<string, Sinks>()
  readonly #closing = new AbortController()
  readonly #presentReads = new PendingTasks()
  /** What has changed in this turn of the event loop, in one request. */
  readonly #changed = new FlushScheduler(() => this.#settle())
  readonly #connection: SharedStream
  #protocol: FullListProtocol | null = null
  #again: Disposable | null = null
  /** The latest time in any message, milliseconds since the epoch by the broker's clock. */
  #newestMs = 0
  /** What was last requested on the current connection. */
  #requested = ''

  constructor(options: FullListOptions<Sinks>) {
    const { connection, definition } = options
    this.#options = options
    this.#connection = new SharedStream({
      connection,
      begin: async signal => new FullListProtocol(await definition.begin(signal), this, definition.quietMs),
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
        this.#unroute(subscription)
        subscription.lost('silence', 'nothing was received for too long, so it was requested again')
        this.#connection.mayOpen()
        this.#requested = ''
        this.#changed.schedule()
      },
      letGo: () => {
        this.#unroute(subscription)
        subscription.end()
        this.#changed.schedule()
      }
    })
    this.#connection.mayOpen()
    this.#changed.schedule()
    return lease
  }

  opened(protocol: FullListProtocol): void {
    this.#protocol = protocol
    this.#requested = ''
    this.#changed.schedule()
  }

  /** @throws StreamFault, Malformed */
  handleFrame(frame: string): void {
    this.#advance(this.#options.definition.dispatch(frame, this.#sinks))
  }

  /** Whether the quotes show a time that the stream should have delivered. @throws StreamFault */
  async look(signal: AbortSignal): Promise<void> {
    const live = [...this.#wanted.values()].filter(({ isLive }) => isLive)
    if (live.length === 0) return
    const quotes = await this.#options.quotes([...new Set(live.map(({ topic }) => this.#symbolOf(topic.symbol)))], signal).catch(() => null)
    const times = live.map(({ topic }) => {
      const quote = quotes?.get(this.#symbolOf(topic.symbol))
      return quote === undefined ? 0 : this.#options.quotesDefinition.changedMs(quote, topic.channel === 'trades' ? 'trades' : 'quotes')
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
    const symbols = [...new Set([...this.#wanted.values()].map(({ topic }) => this.#symbolOf(topic.symbol)))].sort()
    const requested = symbols.join()
    if (requested !== this.#requested) this.#protocol.subscribe(symbols)
    this.#requested = requested
    if ([...this.#wanted.values()].some(({ isLive }) => !isLive)) this.#presentReads.add(this.#readPresent(this.#protocol))
  }

  /** The stream acknowledges nothing and begins with nothing: the current state is read, which also shows what the broker does not know. */
  async #readPresent(protocol: FullListProtocol): Promise<void> {
    const waiting = [...this.#wanted.values()].filter(({ isLive }) => !isLive)
    const symbols = [...new Set(waiting.map(({ topic }) => this.#symbolOf(topic.symbol)))]
    const isStill = () => this.#protocol === protocol && !this.#closing.signal.aborted
    try {
      const quotes = await this.#options.quotes(symbols, this.#closing.signal)
      if (!isStill()) return
      for (const subscription of waiting) {
        const key = keyOf(subscription.topic)
        if (this.#wanted.get(key) !== subscription || subscription.isLive) continue
        const quote = quotes.get(this.#symbolOf(subscription.topic.symbol))
        if (quote === undefined) {
          this.#wanted.delete(key)
          subscription.refused(`${this.#options.quotesDefinition.broker} has no market data of ${subscription.topic.symbol}`)
          continue
        }
        this.#route(subscription, quote)
        subscription.live()
        const { changedMs, quoteOf } = this.#options.quotesDefinition
        this.#advance(changedMs(quote, 'quotes'))
        if (subscription.topic.channel === 'quotes') subscription.sink.quote(quoteOf(quote))
      }
    } catch (error) {
      if (!isStill()) return
      const { cause, reason } = lossOf(error)
      for (const subscription of waiting) if (!subscription.isLive) subscription.lost(cause, reason)
      this.#again ??= this.#options.connection.clock.alarm(AGAIN_MS, () => {
        this.#again = null
        this.#changed.schedule()
      })
    }
  }

  /** Puts a topic's sink where the frames find it. */
  #route({ topic, sink }: Subscription, quote: Wire): void {
    if (topic.channel !== 'trades' && topic.channel !== 'quotes') return
    const symbol = this.#symbolOf(topic.symbol)
    const sinks = this.#sinks.get(symbol) ?? this.#options.definition.newSinks(quote)
    sinks[topic.channel] = sink
    this.#sinks.set(symbol, sinks)
  }

  #unroute({ topic }: Subscription): void {
    const symbol = this.#symbolOf(topic.symbol)
    const sinks = this.#sinks.get(symbol)
    if (sinks === undefined || (topic.channel !== 'trades' && topic.channel !== 'quotes')) return
    sinks[topic.channel] = null
    if (sinks.trades === null && sinks.quotes === null) this.#sinks.delete(symbol)
  }

  #symbolOf(symbol: string): string {
    return this.#options.quotesDefinition.toBroker(symbol)
  }

  #lost(cause: GapCause, reason: string): void {
    this.#protocol = null
    this.#newestMs = 0
    this.#sinks.clear()
    for (const subscription of this.#wanted.values()) subscription.lost(cause, reason)
  }
}

class FullListProtocol implements StreamProtocol<never> {
  readonly url: string
  readonly hello = []
  readonly pingMs = PING_MS
  readonly #subscription: StreamAddress['subscription']
  readonly #feed: FeedOfProtocol
  readonly #quietMs: number
  #connection: Connection<never> | null = null
  #isQuiet = false

  constructor({ url, subscription }: StreamAddress, feed: FeedOfProtocol, quietMs: number) {
    this.url = url
    this.#subscription = subscription
    this.#feed = feed
    this.#quietMs = quietMs
  }

  opened(connection: Connection<never>): void {
    this.#connection = connection
    connection.emit({ type: 'live', heartbeatMs: PING_MS })
    this.#feed.opened(this)
  }

  subscribe(symbols: readonly string[]): void {
    this.#connection?.send(this.#subscription(symbols))
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

interface FeedOfProtocol {
  opened(protocol: FullListProtocol): void
  handleFrame(frame: string): void
  look(signal: AbortSignal): Promise<void>
}
