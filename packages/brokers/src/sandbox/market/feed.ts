/** All topics of one login over one connection: opened with the first, kept while there are any, closed a little after the last. */

import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type GapCause } from '@trunkline/core/ports/broker'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { KeptLine, type LineOptions } from '../../kit/kept-line.ts'
import type { TokenSource } from '../../kit/tokens.ts'
import { StreamToken } from '../stream-token.ts'
import type { HouseTime } from './house-time.ts'
import { dispatch } from './items.ts'
import { keyOf, Subscription } from './subscription.ts'
import { SinkTables, STREAMED_INTERVAL } from './tables.ts'
import { MarketTalk, type MarketTalkOwner } from './talk.ts'

/** The connection outlives its last topic by this much: who changes what they look at leaves one moment without any. */
const LINGER_MS = 5_000

export interface FeedOptions {
  readonly url: string
  readonly tokens: TokenSource
  readonly line: LineOptions
  readonly time: HouseTime
  /** Runs something at the end of this turn; `setImmediate` unless a test says otherwise. */
  readonly schedule?: (work: () => void) => void
}

export class MarketFeed implements MarketTalkOwner, AsyncDisposable {
  readonly #options: FeedOptions
  readonly #schedule: (work: () => void) => void
  readonly #wanted = new Map<string, Subscription>()
  readonly #tables = new SinkTables()
  /** Asked for on the present connection and no longer wanted, or wanted anew. */
  #dropped: Subscription[] = []
  #line: KeptLine<never> | null = null
  /** Lines that were stopped and whose sockets are not gone yet, and the present one. */
  readonly #running = new Set<Promise<void>>()
  #talk: MarketTalk | null = null
  #outage: { readonly cause: GapCause; readonly reason: string } | null = null
  #linger: Disposable | null = null
  #isScheduled = false
  /** The broker has refused the login; only somebody who asks anew makes us try again. */
  #isRejected = false
  #isClosed = false

  constructor(options: FeedOptions) {
    this.#options = options
    this.#schedule = options.schedule ?? setImmediate
  }

  /** @throws Error when the topic is streamed already. */
  stream(topic: Topic, sink: TopicSink): TopicLease {
    const key = keyOf(topic)
    if (this.#wanted.has(key)) throw new Error(`a topic can be streamed once, and ${key} is`)
    const subscription = new Subscription(topic, sink)
    this.#wanted.set(key, subscription)
    this.#isRejected = false
    this.#later()
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
    this.#tables.add(subscription.topic, subscription.sink)
    subscription.live()
  }

  refused(subscription: Subscription, message: string): void {
    this.#wanted.delete(keyOf(subscription.topic))
    subscription.ask = null
    subscription.sink.refused(message)
    this.#later()
  }

  missed(reason: string): void {
    for (const subscription of this.#wanted.values()) this.#askAnew(subscription, 'hole', reason)
    this.#later()
  }

  items(items: readonly unknown[]): void {
    const presentMs = dispatch(items, this.#tables)
    if (presentMs > 0) this.#options.time.happened(presentMs)
  }

  houseTime(at: Timestamp): void {
    this.#options.time.tell(epochMs(at))
  }

  /** Nobody is told anything any more. Resolves once the socket is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#wanted.clear()
    this.#tables.clear()
    this.#stop()
    await Promise.all(this.#running)
  }

  #lost(cause: GapCause, reason: string): void {
    this.#talk = null
    this.#dropped = []
    this.#tables.clear()
    this.#outage = { cause, reason }
    for (const subscription of this.#wanted.values()) subscription.lost(cause, reason)
  }

  #renew(subscription: Subscription): void {
    if (this.#talk !== null) this.#askAnew(subscription, 'silence', 'nothing has come for too long, and it was asked for anew')
    this.#isRejected = false
    this.#later()
  }

  #askAnew(subscription: Subscription, cause: GapCause, reason: string): void {
    this.#tables.remove(subscription.topic)
    if (subscription.ask !== null) this.#dropped.push(subscription)
    subscription.lost(cause, reason)
  }

  #forget(subscription: Subscription): void {
    this.#wanted.delete(keyOf(subscription.topic))
    this.#tables.remove(subscription.topic)
    if (subscription.ask !== null) this.#dropped.push(subscription)
    subscription.ask = null
  }

  #later(): void {
    if (this.#isScheduled || this.#isClosed) return
    this.#isScheduled = true
    this.#schedule(() => {
      this.#isScheduled = false
      if (!this.#isClosed) this.#settle()
    })
  }

  /** What has changed in this turn, in one go. */
  #settle(): void {
    this.#refuseWhatIsNotStreamed()
    this.#flush()
    if (this.#wanted.size === 0) {
      this.#linger ??= this.#line === null ? null : this.#options.line.clock.alarm(LINGER_MS, () => this.#stop())
      return
    }
    this.#linger?.[Symbol.dispose]()
    this.#linger = null
    if (this.#line === null && !this.#isRejected) this.#open()
    else if (this.#outage !== null)
      for (const subscription of this.#wanted.values()) subscription.lost(this.#outage.cause, this.#outage.reason)
  }

  #refuseWhatIsNotStreamed(): void {
    for (const subscription of this.#wanted.values()) {
      const { topic } = subscription
      if (topic.channel === 'bars' && topic.interval !== STREAMED_INTERVAL)
        this.refused(subscription, `the broker streams bars of ${STREAMED_INTERVAL} only`)
    }
  }

  /** Drops go first: what is dropped and wanted again in one turn begins with its present state. */
  #flush(): void {
    const talk = this.#talk
    if (talk === null) return
    const dropped = this.#dropped
    this.#dropped = []
    if (dropped.length > 0) talk.drop(dropped)
    const asked = [...this.#wanted.values()].filter(({ ask }) => ask === null)
    if (asked.length > 0) talk.ask(asked)
  }

  #open(): void {
    this.#outage = null
    const { url, tokens, line: options } = this.#options
    const begin = async (signal: AbortSignal) => new MarketTalk(url, await StreamToken.of(tokens, signal), this)
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
    const running = line
      .run()
      .catch((error: unknown) => this.#ended(line, error))
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** The login is over, or so it seems: a new topic or a renewal tries again. */
  #ended(line: KeptLine<never>, error: unknown): void {
    if (this.#line !== line) return
    this.#line = null
    this.#isRejected = true
    const reason = error instanceof BrokerFault ? error.message : 'the market stream failed'
    this.#lost('token', reason)
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
