import type { Bar, ChainEntry, Depth, Quote, Trade } from '../../domain/market/records.ts'
import type { GapCause } from '../../ports/gap.ts'
import type { MarketSource, Topic, TopicLease, TopicSink } from '../../ports/market.ts'
import type { Watcher } from './watcher.ts'

/** Receives a topic's events; is also notified when the broker is back. */
export interface TopicListener extends Watcher {
  live(): void
}

export type TopicState = 'opening' | 'live' | 'lost' | 'refused'

/** Receives notifications that concern more than the topic's listeners. */
export interface TopicOwner {
  monotonicMs(): number
  lost(topic: SharedTopic, cause: GapCause): void
}

/** Most contracts of one expiration that are retained for later subscribers; the largest chains have some hundreds. */
const CONTRACTS_MAX = 10_000

/**
 * One topic, streamed by the broker once for all subscribers. Retains the present state for later subscribers, and the time of the last
 * event.
 */
export class SharedTopic implements TopicSink {
  readonly topic: Topic
  readonly #owner: TopicOwner
  readonly #lease: TopicLease
  /** Replaced, never mutated, so that adding or removing a listener during a delivery does not disturb it. */
  #listeners: readonly TopicListener[] = []
  #state: TopicState = 'opening'
  #refusal = ''
  #waiting: (() => void)[] = []
  #lastReceivedMs: number
  /** Whether anything arrived since the last check. Reading the clock for every trade would cost more than delivering it. */
  #hasReceived = false
  /** When a renewal in progress was started: its loss is published only if it lasts. */
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

  /** The broker's reason for refusing it. */
  get refusal(): string {
    return this.#refusal
  }

  /** How long nothing has arrived, in milliseconds, for a caller that checks repeatedly. */
  silentMs(): number {
    const now = this.#owner.monotonicMs()
    if (this.#hasReceived) this.#lastReceivedMs = now
    this.#hasReceived = false
    return now - this.#lastReceivedMs
  }

  /** Restarts the measurement of silence. */
  excuseSilence(): void {
    this.#lastReceivedMs = this.#owner.monotonicMs()
  }

  /** How long a renewal has been unanswered; null if none is in progress. */
  get renewingMs(): number | null {
    return this.#renewedAt === null ? null : this.#owner.monotonicMs() - this.#renewedAt
  }

  /** Whether it was lost because a renewal was not answered: no connection will announce its return, so it must be requested again. */
  get isGivenUp(): boolean {
    return this.#isGivenUp
  }

  /** Resolves when the broker streams or refuses it, and after every later loss that is published. */
  settled(): Promise<void> {
    if (this.#state === 'live' || this.#state === 'refused') return Promise.resolve()
    return new Promise(resolve => {
      this.#waiting.push(resolve)
    })
  }

  /** Adds a listener, which receives the present state first. */
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

  /** Subscribes again at the broker. */
  renew(): void {
    this.#lastReceivedMs = this.#owner.monotonicMs()
    this.#renewedAt = this.#lastReceivedMs
    this.#lease.renew()
  }

  /** Ends a renewal that was not answered. */
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
    // The retained state is outdated now: a new listener receives nothing instead.
    this.#quote = null
    this.#depth = null
    this.#bar = null
    this.#chain.clear()
    // The renewal's own loss is ignored; any other loss during it is real.
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
