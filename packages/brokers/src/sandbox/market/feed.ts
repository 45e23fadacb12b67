/** All topics of one login over one connection. */

import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { GapCause } from '@trunkline/core/ports/gap'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { FlushScheduler } from '../../kit/flush-scheduler.ts'
import type { MarketClock } from '../../kit/market-clock.ts'
import { SharedStream } from '../../kit/shared-stream.ts'
import type { ConnectionOptions } from '../../kit/stream-connection.ts'
import { keyOf, leased } from '../../kit/subscription.ts'
import type { TokenSource } from '../../kit/tokens.ts'
import { StreamToken } from '../quirks.ts'
import { dispatch } from './items.ts'
import { SinkTables, STREAMED_INTERVAL } from './sink-tables.ts'
import { MarketProtocol, type MarketProtocolOwner } from './stream-protocol.ts'
import { Subscription } from './subscription.ts'

export interface FeedOptions {
  readonly url: string
  readonly tokens: TokenSource
  readonly connection: ConnectionOptions
  readonly marketClock: MarketClock
  /** Runs something at the end of this turn of the event loop; `setImmediate` unless a test says otherwise. */
  readonly schedule?: (work: () => void) => void
}

export class MarketFeed implements MarketProtocolOwner, AsyncDisposable {
  readonly #options: FeedOptions
  readonly #wanted = new Map<string, Subscription>()
  readonly #tables = new SinkTables()
  readonly #stream: SharedStream
  /** What has changed in this turn of the event loop, in one request. */
  readonly #changed: FlushScheduler
  /** Requested on the current connection and no longer wanted, or wanted again. */
  #dropped: Subscription[] = []
  #protocol: MarketProtocol | null = null

  constructor(options: FeedOptions) {
    const { url, tokens, connection, schedule } = options
    this.#options = options
    this.#changed = new FlushScheduler(() => this.#settle(), schedule)
    this.#stream = new SharedStream({
      connection,
      begin: async signal => new MarketProtocol(url, await StreamToken.of(tokens, signal), this),
      lost: (cause, reason) => this.#lost(cause, reason),
      stopped: () => {
        this.#protocol = null
        this.#dropped = []
      }
    })
  }

  /** @throws Error when the topic is streamed already. */
  stream(topic: Topic, sink: TopicSink): TopicLease {
    const subscription = new Subscription(topic, sink)
    const lease = leased(this.#wanted, keyOf(topic), subscription, {
      renew: () => this.#renew(subscription),
      letGo: () => {
        this.#unstream(subscription)
        subscription.requestNumber = null
        subscription.end()
        this.#changed.schedule()
      }
    })
    this.#stream.mayOpen()
    this.#changed.schedule()
    return lease
  }

  opened(protocol: MarketProtocol): void {
    this.#protocol = protocol
    this.#dropped = []
    this.#flush()
  }

  streamed(subscription: Subscription): void {
    this.#tables.add(subscription.topic, subscription.sink)
    subscription.live()
  }

  refused(subscription: Subscription, message: string): void {
    this.#wanted.delete(keyOf(subscription.topic))
    subscription.requestNumber = null
    subscription.refused(message)
    this.#changed.schedule()
  }

  missed(reason: string): void {
    for (const subscription of this.#wanted.values()) this.#requestAgain(subscription, 'missing', reason)
    this.#changed.schedule()
  }

  items(items: readonly unknown[]): void {
    const presentMs = dispatch(items, this.#tables)
    if (presentMs > 0) this.#options.marketClock.happened(presentMs)
  }

  sandboxTime(at: Timestamp): void {
    this.#options.marketClock.sync(epochMs(at))
  }

  /** Nothing is published any more. Resolves once the socket is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#changed[Symbol.dispose]()
    this.#wanted.clear()
    this.#tables.clear()
    await this.#stream[Symbol.asyncDispose]()
  }

  #lost(cause: GapCause, reason: string): void {
    this.#protocol = null
    this.#dropped = []
    this.#tables.clear()
    for (const subscription of this.#wanted.values()) subscription.lost(cause, reason)
  }

  #renew(subscription: Subscription): void {
    if (this.#protocol !== null) this.#requestAgain(subscription, 'silence', 'nothing was received for too long, so it was requested again')
    this.#stream.mayOpen()
    this.#changed.schedule()
  }

  #requestAgain(subscription: Subscription, cause: GapCause, reason: string): void {
    this.#unstream(subscription)
    subscription.lost(cause, reason)
  }

  #unstream(subscription: Subscription): void {
    this.#tables.remove(subscription.topic)
    if (subscription.requestNumber !== null) this.#dropped.push(subscription)
  }

  #settle(): void {
    this.#refuseWhatIsNotStreamed()
    this.#flush()
    if (this.#wanted.size === 0) {
      this.#stream.release()
      return
    }
    this.#stream.hold()
    this.#stream.open()
    const { outage } = this.#stream
    if (outage !== null) for (const subscription of this.#wanted.values()) subscription.lost(outage.cause, outage.reason)
  }

  #refuseWhatIsNotStreamed(): void {
    for (const subscription of this.#wanted.values()) {
      const { topic } = subscription
      if (topic.channel === 'bars' && topic.interval !== STREAMED_INTERVAL)
        this.refused(subscription, `the broker streams bars of ${STREAMED_INTERVAL} only`)
    }
  }

  /** Drops go first: what is dropped and wanted again in one turn begins with its current state. */
  #flush(): void {
    const protocol = this.#protocol
    if (protocol === null) return
    const dropped = this.#dropped
    this.#dropped = []
    if (dropped.length > 0) protocol.unsubscribe(dropped)
    const requested = [...this.#wanted.values()].filter(({ requestNumber }) => requestNumber === null)
    if (requested.length > 0) protocol.subscribe(requested)
  }
}
