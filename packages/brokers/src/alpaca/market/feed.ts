/** All topics of one of Alpaca's market streams over one connection. */

import type { GapCause } from '@trunkline/core/ports/gap'
import type { TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { FlushScheduler, PendingTasks } from '../../kit/flush-scheduler.ts'
import type { MarketClock } from '../../kit/market-clock.ts'
import { SharedStream } from '../../kit/shared-stream.ts'
import type { ConnectionOptions } from '../../kit/stream-connection.ts'
import { leased } from '../../kit/subscription.ts'
import type { TokenSource } from '../../kit/tokens.ts'
import { usableToken } from '../../kit/usable-token.ts'
import type { Codec } from './codec.ts'
import { dispatch, SinkTables } from './items.ts'
import { MarketProtocol, type MarketProtocolOwner } from './stream-protocol.ts'
import { keyOf, type StreamedTopic, Subscription } from './subscription.ts'

export interface FeedOptions {
  readonly url: string
  readonly pingMs: number
  readonly codec: Codec
  readonly tokens: TokenSource
  /** The first message. */
  readonly hello: (token: string) => object
  readonly connection: ConnectionOptions
  readonly marketClock: MarketClock
  /** Whether Alpaca knows the symbol; checked before the stream is subscribed. @throws BrokerFault */
  readonly isKnown: (symbol: string, signal: AbortSignal) => Promise<boolean>
  /** The present quotes of symbols, as items of the stream; what has none is left out. Never rejects. */
  readonly quotes: (symbols: readonly string[], signal: AbortSignal) => Promise<readonly unknown[]>
}

export class MarketFeed implements MarketProtocolOwner, AsyncDisposable {
  readonly #options: FeedOptions
  readonly #wanted = new Map<string, Subscription>()
  readonly #tables = new SinkTables()
  readonly #closing = new AbortController()
  readonly #stream: SharedStream
  /** What has changed in this turn of the event loop, in one request. */
  readonly #changed = new FlushScheduler(() => this.#settle())
  readonly #reads = new PendingTasks()
  /** Requested on the current connection and no longer wanted, or wanted again. */
  #dropped: Subscription[] = []
  /** Quotes that have become live and are not known yet. */
  #unquoted: Subscription[] = []
  #protocol: MarketProtocol | null = null
  #refusedToken: string | null = null
  #token = ''

  constructor(options: FeedOptions) {
    const { url, pingMs, codec, hello, connection } = options
    this.#options = options
    this.#stream = new SharedStream({
      connection,
      begin: async signal => new MarketProtocol({ url, pingMs, codec, hello: hello(await this.#nextToken(signal)) }, this),
      lost: (cause, reason) => this.#lost(cause, reason),
      stopped: () => {
        this.#protocol = null
        this.#dropped = []
      }
    })
  }

  /** @throws Error when the topic is streamed already. */
  stream(topic: StreamedTopic, sink: TopicSink, { isOfChain = false }: { readonly isOfChain?: boolean } = {}): TopicLease {
    const subscription = new Subscription(topic, sink, isOfChain)
    const lease = leased(this.#wanted, keyOf(topic, isOfChain), subscription, {
      renew: () => this.#renew(subscription),
      letGo: () => {
        this.#unstream(subscription)
        subscription.isRequested = false
        subscription.end()
        this.#changed.schedule()
      }
    })
    this.#stream.mayOpen()
    this.#reads.add(this.#check(subscription))
    return lease
  }

  opened(protocol: MarketProtocol): void {
    this.#protocol = protocol
    this.#dropped = []
    this.#flush()
  }

  streamed(subscription: Subscription): void {
    const { channel, symbol } = subscription.topic
    this.#tables.add(channel, symbol, subscription.sink)
    subscription.live()
    if (channel !== 'quotes' || subscription.isOfChain) return
    this.#unquoted.push(subscription)
    this.#changed.schedule()
  }

  refused(subscription: Subscription, message: string): void {
    if (!this.#isWanted(subscription)) return
    this.#wanted.delete(keyOf(subscription.topic, subscription.isOfChain))
    subscription.isRequested = false
    subscription.refused(message)
    this.#changed.schedule()
  }

  items(items: readonly unknown[]): void {
    const presentMs = dispatch(items, this.#tables)
    if (presentMs > 0) this.#options.marketClock.happened(presentMs)
  }

  authFailed(): void {
    this.#refusedToken = this.#token
  }

  /** Nothing is published any more. Resolves once the socket is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the login was closed'))
    this.#wanted.clear()
    this.#tables.clear()
    this.#changed[Symbol.dispose]()
    await Promise.all([this.#stream[Symbol.asyncDispose](), this.#reads.over()])
  }

  /** A symbol that cannot be looked up now is requested from the stream: it is not known not to exist. Never rejects. */
  async #check(subscription: Subscription): Promise<void> {
    const { symbol, channel } = subscription.topic
    try {
      if (await this.#options.isKnown(symbol, this.#closing.signal)) subscription.isKnown = true
      else this.refused(subscription, `Alpaca has no ${channel} of ${symbol}`)
    } catch {
      subscription.isKnown = true
    }
    this.#changed.schedule()
  }

  #lost(cause: GapCause, reason: string): void {
    this.#protocol = null
    this.#dropped = []
    this.#unquoted = []
    this.#tables.clear()
    for (const subscription of this.#wanted.values()) if (subscription.isKnown) subscription.lost(cause, reason)
  }

  #renew(subscription: Subscription): void {
    if (this.#protocol !== null && subscription.isKnown) {
      this.#unstream(subscription)
      subscription.lost('silence', 'nothing was received for too long, so it was requested again')
    }
    this.#stream.mayOpen()
    this.#changed.schedule()
  }

  #isWanted(subscription: Subscription): boolean {
    return this.#wanted.get(keyOf(subscription.topic, subscription.isOfChain)) === subscription
  }

  #unstream(subscription: Subscription): void {
    const { channel, symbol } = subscription.topic
    this.#tables.remove(channel, symbol, subscription.sink)
    this.#unquoted = this.#unquoted.filter(each => each !== subscription)
    // What is streamed for another topic as well is not unsubscribed.
    const isShared = this.#wanted.get(keyOf(subscription.topic, !subscription.isOfChain))?.isRequested === true
    if (subscription.isRequested && !isShared) this.#dropped.push(subscription)
  }

  #settle(): void {
    this.#flush()
    this.#quote()
    if (this.#wanted.size === 0) {
      this.#stream.release()
      return
    }
    this.#stream.hold()
    const known = [...this.#wanted.values()].filter(({ isKnown }) => isKnown)
    if (known.length === 0) return
    this.#stream.open()
    const { outage } = this.#stream
    if (outage !== null) for (const subscription of known) subscription.lost(outage.cause, outage.reason)
  }

  /** Drops go first: what is dropped and wanted again in one turn begins with its current state. */
  #flush(): void {
    const protocol = this.#protocol
    if (protocol === null) return
    const dropped = this.#dropped
    this.#dropped = []
    if (dropped.length > 0) protocol.unsubscribe(dropped)
    const requested = [...this.#wanted.values()].filter(({ isKnown, isRequested }) => isKnown && !isRequested)
    for (const subscription of requested) subscription.isRequested = true
    if (requested.length > 0) protocol.subscribe(requested)
  }

  /** Alpaca streams the next quote and not the present one, which may be far from the next. */
  #quote(): void {
    const requested = this.#unquoted
    this.#unquoted = []
    if (requested.length > 0) this.#reads.add(this.#readQuotes(requested))
  }

  /** Never rejects. */
  async #readQuotes(requested: readonly Subscription[]): Promise<void> {
    const symbols = requested.map(({ topic }) => topic.symbol)
    const quotes = await this.#options.quotes(symbols, this.#closing.signal)
    if (this.#closing.signal.aborted) return
    const isStillRequested = new Set(requested.filter(each => each.isLive && this.#isWanted(each)).map(each => each.topic.symbol))
    for (const quote of quotes) {
      const symbol = typeof quote === 'object' && quote !== null && 'S' in quote && typeof quote.S === 'string' ? quote.S : ''
      if (!isStillRequested.has(symbol) || this.#tables.quotes.get(symbol)?.hasQuote !== false) continue
      try {
        dispatch([quote], this.#tables)
      } catch {
        // The next quote shows it.
      }
    }
  }

  /** @throws BrokerFault credentials_rejected; StreamFault for whatever passes. */
  async #nextToken(signal: AbortSignal): Promise<string> {
    const refused = this.#refusedToken
    this.#refusedToken = null
    this.#token = await usableToken(this.#options.tokens, signal, refused)
    return this.#token
  }
}
