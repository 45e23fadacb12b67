/** All topics of one of Alpaca's market streams over one connection: opened with the first, kept while there are any, closed a little after the last. */

import { BrokerFault, type GapCause } from '@trunkline/core/ports/broker'
import type { TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { KeptLine, type LineOptions } from '../../kit/kept-line.ts'
import { StreamFault } from '../../kit/stream-fault.ts'
import type { TokenSource } from '../../kit/tokens.ts'
import type { Codec } from './codec.ts'
import { dispatch, SinkTables } from './items.ts'
import type { Present } from './present.ts'
import { keyOf, type StreamedTopic, Subscription } from './subscription.ts'
import { MarketTalk, type MarketTalkOwner } from './talk.ts'

/** The connection outlives its last topic by this much: who changes what they look at leaves one moment without any. */
const LINGER_MS = 5_000

export interface FeedOptions {
  readonly url: string
  readonly pingMs: number
  readonly codec: Codec
  readonly tokens: TokenSource
  /** The first message. */
  readonly hello: (token: string) => object
  readonly line: LineOptions
  readonly present: Present
  /** Whether Alpaca knows the symbol; it is asked before the stream is. @throws BrokerFault */
  readonly isKnown: (symbol: string, signal: AbortSignal) => Promise<boolean>
  /** The present quotes of symbols, as items of the stream; what has none is left out. Never rejects. */
  readonly quotes: (symbols: readonly string[], signal: AbortSignal) => Promise<readonly unknown[]>
}

export class MarketFeed implements MarketTalkOwner, AsyncDisposable {
  readonly #options: FeedOptions
  readonly #wanted = new Map<string, Subscription>()
  readonly #tables = new SinkTables()
  readonly #closing = new AbortController()
  /** Asked for on the present connection and no longer wanted, or wanted anew. */
  #dropped: Subscription[] = []
  /** Quotes that have become live and are not known yet. */
  #unquoted: Subscription[] = []
  #line: KeptLine<never> | null = null
  /** What is under way: lines whose sockets are not gone yet, and reads. */
  readonly #running = new Set<Promise<void>>()
  #talk: MarketTalk | null = null
  #refusedToken: string | null = null
  #token = ''
  #outage: { readonly cause: GapCause; readonly reason: string } | null = null
  #linger: Disposable | null = null
  #isScheduled = false
  /** The login is refused; only somebody who asks anew makes us try again. */
  #isRejected = false

  constructor(options: FeedOptions) {
    this.#options = options
  }

  /** @throws Error when the topic is streamed already. */
  stream(topic: StreamedTopic, sink: TopicSink, { isOfChain = false }: { readonly isOfChain?: boolean } = {}): TopicLease {
    const key = keyOf(topic, isOfChain)
    if (this.#wanted.has(key)) throw new Error(`a topic can be streamed once, and ${key} is`)
    const subscription = new Subscription(topic, sink, isOfChain)
    this.#wanted.set(key, subscription)
    this.#isRejected = false
    this.#begin(this.#check(subscription))
    return {
      renew: () => {
        if (this.#wanted.get(key) === subscription) this.#renew(subscription)
      },
      [Symbol.dispose]: () => {
        if (this.#wanted.get(key) !== subscription) return
        this.#forget(subscription)
        this.#later()
      }
    }
  }

  opened(talk: MarketTalk): void {
    this.#talk = talk
    this.#dropped = []
    this.#flush()
  }

  streamed(subscription: Subscription): void {
    const { channel, symbol } = subscription.topic
    this.#tables.add(channel, symbol, subscription.sink)
    subscription.live()
    if (channel !== 'quotes' || subscription.isOfChain) return
    this.#unquoted.push(subscription)
    this.#later()
  }

  refused(subscription: Subscription, message: string): void {
    if (!this.#isWanted(subscription)) return
    this.#wanted.delete(keyOf(subscription.topic, subscription.isOfChain))
    subscription.isAsked = false
    subscription.sink.refused(message)
    this.#later()
  }

  items(items: readonly unknown[]): void {
    const presentMs = dispatch(items, this.#tables)
    if (presentMs > 0) this.#options.present.happened(presentMs)
  }

  notTaken(): void {
    this.#refusedToken = this.#token
  }

  /** Nobody is told anything any more. Resolves once the socket is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the login was closed'))
    this.#wanted.clear()
    this.#tables.clear()
    this.#stop()
    await Promise.all(this.#running)
  }

  /** A symbol that cannot be looked up now is asked of the stream: it is not known to be none. Never rejects. */
  async #check(subscription: Subscription): Promise<void> {
    const { symbol, channel } = subscription.topic
    try {
      if (await this.#options.isKnown(symbol, this.#closing.signal)) subscription.isKnown = true
      else this.refused(subscription, `Alpaca has no ${channel} of ${symbol}`)
    } catch {
      subscription.isKnown = true
    }
    this.#later()
  }

  #lost(cause: GapCause, reason: string): void {
    this.#talk = null
    this.#dropped = []
    this.#unquoted = []
    this.#tables.clear()
    this.#outage = { cause, reason }
    for (const subscription of this.#wanted.values()) if (subscription.isKnown) subscription.lost(cause, reason)
  }

  #renew(subscription: Subscription): void {
    if (this.#talk !== null && subscription.isKnown) {
      this.#unstream(subscription)
      subscription.lost('silence', 'nothing has come for too long, and it was asked for anew')
    }
    this.#isRejected = false
    this.#later()
  }

  #isWanted(subscription: Subscription): boolean {
    return this.#wanted.get(keyOf(subscription.topic, subscription.isOfChain)) === subscription
  }

  #forget(subscription: Subscription): void {
    this.#wanted.delete(keyOf(subscription.topic, subscription.isOfChain))
    this.#unstream(subscription)
    subscription.isAsked = false
    subscription.isLive = false
  }

  #unstream(subscription: Subscription): void {
    const { channel, symbol } = subscription.topic
    this.#tables.remove(channel, symbol, subscription.sink)
    this.#unquoted = this.#unquoted.filter(each => each !== subscription)
    // What somebody else streams as well is not given back.
    const isShared = this.#wanted.get(keyOf(subscription.topic, !subscription.isOfChain))?.isAsked === true
    if (subscription.isAsked && !isShared) this.#dropped.push(subscription)
  }

  #later(): void {
    if (this.#isScheduled || this.#closing.signal.aborted) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      if (!this.#closing.signal.aborted) this.#settle()
    })
  }

  /** What has changed in this turn, in one go. */
  #settle(): void {
    this.#flush()
    this.#quote()
    if (this.#wanted.size === 0) {
      this.#linger ??= this.#line === null ? null : this.#options.line.clock.alarm(LINGER_MS, () => this.#stop())
      return
    }
    this.#linger?.[Symbol.dispose]()
    this.#linger = null
    const known = [...this.#wanted.values()].filter(({ isKnown }) => isKnown)
    if (known.length === 0) return
    if (this.#line === null && !this.#isRejected) this.#open()
    else if (this.#outage !== null) for (const subscription of known) subscription.lost(this.#outage.cause, this.#outage.reason)
  }

  /** Drops go first: what is dropped and wanted again in one turn begins with its present state. */
  #flush(): void {
    const talk = this.#talk
    if (talk === null) return
    const dropped = this.#dropped
    this.#dropped = []
    if (dropped.length > 0) talk.drop(dropped)
    const asked = [...this.#wanted.values()].filter(({ isKnown, isAsked }) => isKnown && !isAsked)
    for (const subscription of asked) subscription.isAsked = true
    if (asked.length > 0) talk.ask(asked)
  }

  /** Alpaca streams the next quote and not the present one, which may be far from the next. */
  #quote(): void {
    const asked = this.#unquoted
    this.#unquoted = []
    if (asked.length > 0) this.#begin(this.#present(asked))
  }

  /** Never rejects. */
  async #present(asked: readonly Subscription[]): Promise<void> {
    const symbols = asked.map(({ topic }) => topic.symbol)
    const quotes = await this.#options.quotes(symbols, this.#closing.signal)
    if (this.#closing.signal.aborted) return
    const isStillAsked = new Set(asked.filter(each => each.isLive && this.#isWanted(each)).map(each => each.topic.symbol))
    for (const quote of quotes) {
      const symbol = typeof quote === 'object' && quote !== null && 'S' in quote && typeof quote.S === 'string' ? quote.S : ''
      if (!isStillAsked.has(symbol) || this.#tables.quotes.get(symbol)?.isHeard !== false) continue
      try {
        dispatch([quote], this.#tables)
      } catch {
        // The next quote tells.
      }
    }
  }

  #begin(work: Promise<void>): void {
    const running = work.finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  #open(): void {
    this.#outage = null
    const { url, pingMs, codec, hello, line: options } = this.#options
    const begin = async (signal: AbortSignal) => new MarketTalk({ url, pingMs, codec, hello: hello(await this.#nextToken(signal)) }, this)
    const line: KeptLine<never> = new KeptLine({ begin }, options, {
      live: () => {
        this.#outage = null
      },
      event: () => undefined,
      gap: (cause, reason) => {
        if (this.#line === line) this.#lost(cause, reason)
      }
    })
    this.#line = line
    this.#begin(line.run().catch((error: unknown) => this.#ended(line, error)))
  }

  /** One that was refused on the last connection is doubted first. @throws BrokerFault credentials_rejected; StreamFault for whatever passes. */
  async #nextToken(signal: AbortSignal): Promise<string> {
    const { tokens } = this.#options
    const refused = this.#refusedToken
    this.#refusedToken = null
    try {
      this.#token = refused === null ? (tokens.fresh() ?? (await tokens.current(signal))) : await tokens.replacement(refused, signal)
      return this.#token
    } catch (cause) {
      if (cause instanceof BrokerFault && cause.kind === 'credentials_rejected') throw cause
      throw new StreamFault('token', 'the login could not be made sure of', cause)
    }
  }

  /** The login is over: a new topic or a renewal tries again. */
  #ended(line: KeptLine<never>, error: unknown): void {
    if (this.#line !== line) return
    this.#line = null
    this.#isRejected = true
    this.#lost('token', error instanceof BrokerFault ? error.message : 'the market stream failed')
  }

  #stop(): void {
    this.#linger?.[Symbol.dispose]()
    this.#linger = null
    this.#talk = null
    this.#dropped = []
    this.#line?.stop()
    this.#line = null
  }
}
