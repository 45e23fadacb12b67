/**
 * A market feed by mode `incremental`: one connection for all topics, which are added and dropped by requests that the broker answers.
 * Opened with the first topic, closed a little after the last.
 */

import type { GapCause } from '@trunkline/core/ports/gap'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { FlushScheduler, PendingTasks } from '../flush-scheduler.ts'
import { SharedStream } from '../shared-stream.ts'
import type { ConnectionOptions } from '../stream-connection.ts'
import type { StreamProtocol } from '../stream-protocol.ts'
import { keyOf, leased, Subscription } from '../subscription.ts'

/** A topic, and how far the broker is with it. */
export class FeedSubscription extends Subscription {
  /** A chain follows quotes beside their own topic, and reads the present ones itself. */
  readonly isOfChain: boolean
  /** Whether it may be requested: the symbol is known to the broker, or cannot be looked up now. */
  isKnown = false
  /** Number of the message that requests it on the current connection; null when none does. */
  requestNumber: number | null = null

  constructor(topic: Topic, sink: TopicSink, isOfChain: boolean) {
    super(topic, sink)
    this.isOfChain = isOfChain
  }

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
  /**
   * Whether the broker knows a symbol, for one that takes requests for any. A symbol that cannot be looked up now is requested: it may
   * exist. @throws BrokerFault
   */
  readonly isKnown?: (symbol: string, signal: AbortSignal) => Promise<boolean>
  /**
   * For a broker that streams only what comes next: reads the present state of topics that have become live, and hands it to their sinks. A
   * topic that is not live any more gets nothing. Never rejects.
   */
  readonly present?: (subscriptions: readonly FeedSubscription[], signal: AbortSignal) => Promise<void>
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
  remove(topic: Topic, sink: TopicSink): void
  clear(): void
}

export class IncrementalFeed implements FeedOwner, AsyncDisposable {
  readonly #options: IncrementalFeedOptions
  readonly #wanted = new Map<string, FeedSubscription>()
  readonly #stream: SharedStream
  readonly #closing = new AbortController()
  readonly #reads = new PendingTasks()
  /** What has changed in this turn of the event loop, in one request. */
  readonly #changed: FlushScheduler
  /** Requested on the current connection and no longer wanted, or wanted again. */
  #dropped: FeedSubscription[] = []
  /** Live, and their present state is not read yet. */
  #unread: FeedSubscription[] = []
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

  /** @throws Error when the topic is streamed already; a topic may be streamed once more for a chain. */
  stream(topic: Topic, sink: TopicSink, { isOfChain = false }: { readonly isOfChain?: boolean } = {}): TopicLease {
    const subscription = new FeedSubscription(topic, sink, isOfChain)
    const lease = leased(this.#wanted, wantedKey(subscription), subscription, {
      renew: () => this.#renew(subscription),
      letGo: () => {
        this.#unstream(subscription)
        subscription.requestNumber = null
        subscription.end()
        this.#changed.schedule()
      }
    })
    this.#stream.mayOpen()
    const { isKnown, refusal } = this.#options
    if (isKnown !== undefined && refusal(topic) === null) this.#reads.add(this.#check(subscription, isKnown))
    else subscription.isKnown = true
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
    if (this.#options.present === undefined) return
    this.#unread.push(subscription)
    this.#changed.schedule()
  }

  refused(subscription: FeedSubscription, message: string): void {
    const key = wantedKey(subscription)
    if (this.#wanted.get(key) !== subscription) return
    this.#wanted.delete(key)
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
    this.#closing.abort(new Error('the login was closed'))
    this.#changed[Symbol.dispose]()
    this.#wanted.clear()
    this.#options.table.clear()
    await Promise.all([this.#stream[Symbol.asyncDispose](), this.#reads.over()])
  }

  /** Never rejects. */
  async #check(subscription: FeedSubscription, isKnown: NonNullable<IncrementalFeedOptions['isKnown']>): Promise<void> {
    const { symbol, channel } = subscription.topic
    try {
      subscription.isKnown = await isKnown(symbol, this.#closing.signal)
      if (!subscription.isKnown) this.refused(subscription, `the broker has no ${channel} of ${symbol}`)
    } catch {
      subscription.isKnown = true
    }
    this.#changed.schedule()
  }

  #lost(cause: GapCause, reason: string): void {
    this.#protocol = null
    this.#dropped = []
    this.#unread = []
    this.#options.table.clear()
    for (const subscription of this.#known()) subscription.lost(cause, reason)
  }

  #known(): readonly FeedSubscription[] {
    return [...this.#wanted.values()].filter(({ isKnown }) => isKnown)
  }

  #renew(subscription: FeedSubscription): void {
    if (this.#protocol !== null && subscription.isKnown)
      this.#requestAgain(subscription, 'silence', 'nothing was received for too long, so it was requested again')
    this.#stream.mayOpen()
    this.#changed.schedule()
  }

  #requestAgain(subscription: FeedSubscription, cause: GapCause, reason: string): void {
    this.#unstream(subscription)
    subscription.lost(cause, reason)
  }

  #unstream(subscription: FeedSubscription): void {
    const { topic, sink, isOfChain } = subscription
    this.#options.table.remove(topic, sink)
    this.#unread = this.#unread.filter(each => each !== subscription)
    // What is requested for a chain, or beside one, as well is not dropped.
    const other = this.#wanted.get(wantedKey({ topic, isOfChain: !isOfChain }))
    if (subscription.requestNumber !== null && (other?.requestNumber ?? null) === null) this.#dropped.push(subscription)
  }

  #settle(): void {
    for (const subscription of this.#wanted.values()) {
      const refusal = this.#options.refusal(subscription.topic)
      if (refusal !== null) this.refused(subscription, refusal)
    }
    this.#flush()
    this.#readPresent()
    if (this.#wanted.size === 0) {
      this.#stream.release()
      return
    }
    this.#stream.hold()
    const known = this.#known()
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
    const requested = this.#known().filter(({ requestNumber }) => requestNumber === null)
    if (requested.length > 0) protocol.subscribe(requested)
  }

  #readPresent(): void {
    const subscriptions = this.#unread
    this.#unread = []
    const { present } = this.#options
    if (present !== undefined && subscriptions.length > 0) this.#reads.add(present(subscriptions, this.#closing.signal))
  }
}

function wantedKey({ topic, isOfChain }: Pick<FeedSubscription, 'topic' | 'isOfChain'>): string {
  return isOfChain ? `${keyOf(topic)} of a chain` : keyOf(topic)
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
