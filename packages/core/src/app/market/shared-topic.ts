import type { Bar, ChainEntry, Depth, Quote, Trade } from '../../domain/market/records.ts'
import type { GapCause } from '../../ports/broker.ts'
import type { MarketSource, Topic, TopicLease, TopicSink } from '../../ports/market.ts'
import type { Watcher } from './watcher.ts'

/** Receives a topic: a watcher that is also notified when the broker is back. */
export interface TopicListener extends Watcher {
  live(): void
}

export type TopicState = 'opening' | 'live' | 'lost' | 'refused'

/** Receives what concerns more than the topic's listeners. */
export interface TopicOwner {
  monotonicMs(): number
  lost(topic: SharedTopic, cause: GapCause): void
}

/** Contracts of one expiration that are remembered for who comes later; the largest chains have some hundreds. */
const CONTRACTS_MAX = 10_000

/**
 * One topic as the broker streams it, once, for everybody who wants it. Keeps the present state for later listeners, and when something was last
 * received.
 */
export class SharedTopic implements TopicSink {
  readonly topic: Topic
  readonly #owner: TopicOwner
  readonly #lease: TopicLease
  /** Replaced, never mutated, so that a listener that is added or removed while an event is delivered does not disturb the delivery. */
  #listeners: readonly TopicListener[] = []
  #state: TopicState = 'opening'
  #refusal = ''
  #waiting: (() => void)[] = []
  #lastReceivedMs: number
  /** Whether anything came since it was last asked. Reading the clock for every trade would cost more than delivering it. */
  #hasReceived = false
  /** A renewal is under way since then: its loss is published only when it lasts. */
  #renewedAt: number | null = null
  #isGivenUp = false
  #quote: Quote | null = null
  #depth: Depth | null = null
  #bar: Bar | null = null
  readonly #chain = new Map<string, ChainEntry>()

  constructor(topic: Topic, source: MarketSource, owner: TopicOwner) {
    this.topic = topic
    this.#owner = owner
    this.#lastReceivedMs = owner.monotonicMs()
    this.#lease = source.stream(topic, this)
  }

  get state(): TopicState {
    return this.#state
  }

  /** Why the broker refused it. */
  get refusal(): string {
    return this.#refusal
  }

  /** How long nothing was received, in milliseconds, as seen by a caller that asks repeatedly. */
  silentMs(): number {
    const now = this.#owner.monotonicMs()
    if (this.#hasReceived) this.#lastReceivedMs = now
    this.#hasReceived = false
    return now - this.#lastReceivedMs
  }

  /** Silence counts from now on. */
  excuseSilence(): void {
    this.#lastReceivedMs = this.#owner.monotonicMs()
  }

  /** How long a renewal has been without an answer; null when none is under way. */
  get renewingMs(): number | null {
    return this.#renewedAt === null ? null : this.#owner.monotonicMs() - this.#renewedAt
  }

  /** It is lost because a renewal was not answered: no connection will announce its return, so it has to be requested again. */
  get isGivenUp(): boolean {
    return this.#isGivenUp
  }

  /** Resolves when the broker streams it or refuses it, and after every later loss that is published. */
  settled(): Promise<void> {
    if (this.#state === 'live' || this.#state === 'refused') return Promise.resolve()
    return new Promise(resolve => {
      this.#waiting.push(resolve)
    })
  }

  /** From here on the listener receives events, the present state first. */
  add(listener: TopicListener): void {
    this.#listeners = [...this.#listeners, listener]
    if (this.#quote !== null) listener.quote(this.#quote)
    if (this.#depth !== null) listener.depth(this.#depth)
    if (this.#bar !== null && !this.#bar.closed) listener.bar(this.#bar)
    for (const entry of this.#chain.values()) listener.chain(entry)
  }

  remove(listener: TopicListener): void {
    this.#listeners = this.#listeners.filter(other => other !== listener)
  }

  /** Requests it from the broker again. */
  renew(): void {
    this.#lastReceivedMs = this.#owner.monotonicMs()
    this.#renewedAt = this.#lastReceivedMs
    this.#lease.renew()
  }

  /** A renewal was not answered. */
  giveUpRenewal(reason: string): void {
    this.#renewedAt = null
    this.#isGivenUp = true
    const wasLive = this.#state === 'live'
    this.#state = 'lost'
    if (wasLive) for (const listener of this.#listeners) listener.interrupted(reason)
  }

  end(): void {
    this.#listeners = []
    this.#lease[Symbol.dispose]()
    this.#settle()
  }

  live(): void {
    this.#lastReceivedMs = this.#owner.monotonicMs()
    this.#renewedAt = null
    this.#isGivenUp = false
    this.#state = 'live'
    this.#settle()
    for (const listener of this.#listeners) listener.live()
  }

  lost(cause: GapCause, reason: string): void {
    const wasLive = this.#state === 'live'
    // The cached state is outdated from here on: a new listener gets nothing rather than that.
    this.#quote = null
    this.#depth = null
    this.#bar = null
    this.#chain.clear()
    // The renewal's own loss. Any other one during it is real.
    if (this.#renewedAt !== null && cause === 'silence') return
    this.#renewedAt = null
    this.#isGivenUp = false
    if (this.#state !== 'refused') this.#state = 'lost'
    if (wasLive) for (const listener of this.#listeners) listener.interrupted(reason)
    this.#owner.lost(this, cause)
  }

  refused(message: string): void {
    this.#state = 'refused'
    this.#refusal = message
    this.#settle()
    for (const listener of this.#listeners) listener.interrupted(message)
  }

  trade(trade: Trade): void {
    this.#hasReceived = true
    for (const listener of this.#listeners) listener.trade(trade)
  }

  quote(quote: Quote): void {
    this.#hasReceived = true
    this.#quote = quote
    for (const listener of this.#listeners) listener.quote(quote)
  }

  depth(depth: Depth): void {
    this.#hasReceived = true
    this.#depth = depth
    for (const listener of this.#listeners) listener.depth(depth)
  }

  bar(bar: Bar): void {
    this.#hasReceived = true
    this.#bar = bar
    for (const listener of this.#listeners) listener.bar(bar)
  }

  chain(entry: ChainEntry): void {
    this.#hasReceived = true
    if (this.#chain.size < CONTRACTS_MAX || this.#chain.has(entry.symbol)) this.#chain.set(entry.symbol, entry)
    for (const listener of this.#listeners) listener.chain(entry)
  }

  #settle(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
