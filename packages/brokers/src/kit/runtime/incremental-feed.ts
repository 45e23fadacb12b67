/**
 * A market feed by mode `incremental`: one connection for all topics, which are added and dropped by requests that the broker answers. Opened with
 * the first topic, closed a little after the last.
 */

import type { GapCause } from '@trunkline/core/ports/gap'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { FlushScheduler } from '../flush-scheduler.ts'
import { SharedStream } from '../shared-stream.ts'
import type { ConnectionOptions } from '../stream-connection.ts'
import type { StreamProtocol } from '../stream-protocol.ts'
import { keyOf, leased, Subscription } from '../subscription.ts'

/** A topic, and how far the broker is with it. */
export class FeedSubscription extends Subscription {
  /** Number of the message that requests it on the current connection; null when none does. */
  requestNumber: number | null = null

  override lost(cause: GapCause, reason: string): void {
    this.requestNumber = null
    super.lost(cause, reason)
  }
}

/** One connection, as the feed uses it. */
export interface FeedProtocol extends StreamProtocol<never> {
  /** Requests topics, and gives each the number of its message. */
  subscribe(subscriptions: readonly FeedSubscription[]): void
  unsubscribe(subscriptions: readonly FeedSubscription[]): void
}

/** Receives the results as messages arrive. */
export interface FeedOwner {
  /** The broker has accepted the login; topics can be requested. */
  opened(protocol: FeedProtocol): void
  streamed(subscription: FeedSubscription): void
  refused(subscription: FeedSubscription, message: string): void
  /** A message did not come: everything may miss something. */
  missed(reason: string): void
  /** The content of a message, in the order of the messages. @throws Malformed */
  items(items: readonly unknown[]): void
}

export interface IncrementalFeedOptions {
  readonly connection: ConnectionOptions
  /** Gets what a connection needs. @throws BrokerFault; StreamFault to name the cause */
  readonly begin: (owner: FeedOwner, signal: AbortSignal) => Promise<FeedProtocol>
  /** Why the broker does not stream a topic at all; null: it may. */
  readonly refusal: (topic: Topic) => string | null
  /** Where items find their sinks. */
  readonly table: SinkTable
  /** Hands items to their sinks. Returns the latest time in them, milliseconds since the epoch; 0: none. @throws Malformed */
  readonly dispatch: (items: readonly unknown[]) => number
  /** An event of this time occurred, milliseconds since the epoch. */
  readonly happened: (ms: number) => void
  /** Runs something at the end of this turn of the event loop; `setImmediate` unless a test replaces it. */
  readonly schedule?: (work: () => void) => void
}

export interface SinkTable {
  add(topic: Topic, sink: TopicSink): void
  remove(topic: Topic): void
  clear(): void
}

export class IncrementalFeed implements FeedOwner, AsyncDisposable {
  readonly #options: IncrementalFeedOptions
  readonly #wanted = new Map<string, FeedSubscription>()
  readonly #stream: SharedStream
  /** What has changed in this turn of the event loop, in one request. */
  readonly #changed: FlushScheduler
  /** Requested on the current connection and no longer wanted, or wanted again. */
  #dropped: FeedSubscription[] = []
  #protocol: FeedProtocol | null = null

  constructor(options: IncrementalFeedOptions) {
    const { connection, begin, schedule } = options
    this.#options = options
    this.#changed = new FlushScheduler(() => this.#settle(), schedule)
    this.#stream = new SharedStream({
      connection,
      begin: signal => begin(this, signal),
      lost: (cause, reason) => this.#lost(cause, reason),
      stopped: () => {
        this.#protocol = null
        this.#dropped = []
      }
    })
  }

  /** @throws Error when the topic is streamed already. */
  stream(topic: Topic, sink: TopicSink): TopicLease {
    const subscription = new FeedSubscription(topic, sink)
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

  opened(protocol: FeedProtocol): void {
    this.#protocol = protocol
    this.#dropped = []
    this.#flush()
  }

  streamed(subscription: FeedSubscription): void {
    this.#options.table.add(subscription.topic, subscription.sink)
    subscription.live()
  }

  refused(subscription: FeedSubscription, message: string): void {
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
    const presentMs = this.#options.dispatch(items)
    if (presentMs > 0) this.#options.happened(presentMs)
  }

  /** Nothing is published any more. Resolves once the socket is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#changed[Symbol.dispose]()
    this.#wanted.clear()
    this.#options.table.clear()
    await this.#stream[Symbol.asyncDispose]()
  }

  #lost(cause: GapCause, reason: string): void {
    this.#protocol = null
    this.#dropped = []
    this.#options.table.clear()
    for (const subscription of this.#wanted.values()) subscription.lost(cause, reason)
  }

  #renew(subscription: FeedSubscription): void {
    if (this.#protocol !== null) this.#requestAgain(subscription, 'silence', 'nothing was received for too long, so it was requested again')
    this.#stream.mayOpen()
    this.#changed.schedule()
  }

  #requestAgain(subscription: FeedSubscription, cause: GapCause, reason: string): void {
    this.#unstream(subscription)
    subscription.lost(cause, reason)
  }

  #unstream(subscription: FeedSubscription): void {
    this.#options.table.remove(subscription.topic)
    if (subscription.requestNumber !== null) this.#dropped.push(subscription)
  }

  #settle(): void {
    for (const subscription of this.#wanted.values()) {
      const refusal = this.#options.refusal(subscription.topic)
      if (refusal !== null) this.refused(subscription, refusal)
    }
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

/** Subscriptions that fit into one message: with the same fields, and at most `max` symbols. */
export function messagesOf<Fields extends object>(
  subscriptions: readonly FeedSubscription[],
  fieldsOf: (topic: Topic) => Fields,
  max: number
): readonly { readonly fields: Fields; readonly members: readonly FeedSubscription[] }[] {
  const messages: { fields: Fields; members: readonly FeedSubscription[] }[] = []
  for (const members of Map.groupBy(subscriptions, ({ topic }) => JSON.stringify(fieldsOf(topic))).values()) {
    const [first] = members
    if (first === undefined) continue
    const fields = fieldsOf(first.topic)
    for (let from = 0; from < members.length; from += max) messages.push({ fields, members: members.slice(from, from + max) })
  }
  return messages
}
