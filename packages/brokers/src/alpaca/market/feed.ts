/** All topics of one of Alpaca's market streams over one connection. */

import type { GapCause } from '@trunkline/core/ports/broker'
import type { TopicLease, TopicSink } from '@trunkline/core/ports/market'
import type { LineOptions } from '../../kit/kept-line.ts'
import type { Present } from '../../kit/present.ts'
import { SharedLine } from '../../kit/shared-line.ts'
import { leased } from '../../kit/subscription.ts'
import type { TokenSource } from '../../kit/tokens.ts'
import { EndOfTurn, UnderWay } from '../../kit/turn.ts'
import { usableToken } from '../../kit/usable-token.ts'
import type { Codec } from './codec.ts'
import { dispatch, SinkTables } from './items.ts'
import { keyOf, type StreamedTopic, Subscription } from './subscription.ts'
import { MarketTalk, type MarketTalkOwner } from './talk.ts'

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
  readonly #line: SharedLine
  /** What has changed in this turn, in one go. */
  readonly #changed = new EndOfTurn(() => this.#settle())
  readonly #reads = new UnderWay()
  /** Asked for on the present connection and no longer wanted, or wanted anew. */
  #dropped: Subscription[] = []
  /** Quotes that have become live and are not known yet. */
  #unquoted: Subscription[] = []
  #talk: MarketTalk | null = null
  #refusedToken: string | null = null
  #token = ''

  constructor(options: FeedOptions) {
    const { url, pingMs, codec, hello, line } = options
    this.#options = options
    this.#line = new SharedLine({
      line,
      begin: async signal => new MarketTalk({ url, pingMs, codec, hello: hello(await this.#nextToken(signal)) }, this),
      lost: (cause, reason) => this.#lost(cause, reason),
      stopped: () => {
        this.#talk = null
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
        subscription.isAsked = false
        subscription.end()
        this.#changed.ask()
      }
    })
    this.#line.mayOpen()
    this.#reads.add(this.#check(subscription))
    return lease
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
    this.#changed.ask()
  }

  refused(subscription: Subscription, message: string): void {
    if (!this.#isWanted(subscription)) return
    this.#wanted.delete(keyOf(subscription.topic, subscription.isOfChain))
    subscription.isAsked = false
    subscription.refused(message)
    this.#changed.ask()
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
    this.#changed[Symbol.dispose]()
    await Promise.all([this.#line[Symbol.asyncDispose](), this.#reads.over()])
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
    this.#changed.ask()
  }

  #lost(cause: GapCause, reason: string): void {
    this.#talk = null
    this.#dropped = []
    this.#unquoted = []
    this.#tables.clear()
    for (const subscription of this.#wanted.values()) if (subscription.isKnown) subscription.lost(cause, reason)
  }

  #renew(subscription: Subscription): void {
    if (this.#talk !== null && subscription.isKnown) {
      this.#unstream(subscription)
      subscription.lost('silence', 'nothing has come for too long, and it was asked for anew')
    }
    this.#line.mayOpen()
    this.#changed.ask()
  }

  #isWanted(subscription: Subscription): boolean {
    return this.#wanted.get(keyOf(subscription.topic, subscription.isOfChain)) === subscription
  }

  #unstream(subscription: Subscription): void {
    const { channel, symbol } = subscription.topic
    this.#tables.remove(channel, symbol, subscription.sink)
    this.#unquoted = this.#unquoted.filter(each => each !== subscription)
    // What somebody else streams as well is not given back.
    const isShared = this.#wanted.get(keyOf(subscription.topic, !subscription.isOfChain))?.isAsked === true
    if (subscription.isAsked && !isShared) this.#dropped.push(subscription)
  }

  #settle(): void {
    this.#flush()
    this.#quote()
    if (this.#wanted.size === 0) {
      this.#line.release()
      return
    }
    this.#line.hold()
    const known = [...this.#wanted.values()].filter(({ isKnown }) => isKnown)
    if (known.length === 0) return
    this.#line.open()
    const { outage } = this.#line
    if (outage !== null) for (const subscription of known) subscription.lost(outage.cause, outage.reason)
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
    if (asked.length > 0) this.#reads.add(this.#present(asked))
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

  /** @throws BrokerFault credentials_rejected; StreamFault for whatever passes. */
  async #nextToken(signal: AbortSignal): Promise<string> {
    const refused = this.#refusedToken
    this.#refusedToken = null
    this.#token = await usableToken(this.#options.tokens, signal, refused)
    return this.#token
  }
}
