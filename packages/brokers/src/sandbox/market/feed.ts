/** All topics of one login over one connection. */

import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { GapCause } from '@trunkline/core/ports/broker'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import type { LineOptions } from '../../kit/kept-line.ts'
import type { Present } from '../../kit/present.ts'
import { SharedLine } from '../../kit/shared-line.ts'
import { keyOf, leased } from '../../kit/subscription.ts'
import type { TokenSource } from '../../kit/tokens.ts'
import { EndOfTurn } from '../../kit/turn.ts'
import { StreamToken } from '../stream-token.ts'
import { dispatch } from './items.ts'
import { Subscription } from './subscription.ts'
import { SinkTables, STREAMED_INTERVAL } from './tables.ts'
import { MarketTalk, type MarketTalkOwner } from './talk.ts'

export interface FeedOptions {
  readonly url: string
  readonly tokens: TokenSource
  readonly line: LineOptions
  readonly time: Present
  /** Runs something at the end of this turn; `setImmediate` unless a test says otherwise. */
  readonly schedule?: (work: () => void) => void
}

export class MarketFeed implements MarketTalkOwner, AsyncDisposable {
  readonly #options: FeedOptions
  readonly #wanted = new Map<string, Subscription>()
  readonly #tables = new SinkTables()
  readonly #line: SharedLine
  /** What has changed in this turn, in one go. */
  readonly #changed: EndOfTurn
  /** Asked for on the present connection and no longer wanted, or wanted anew. */
  #dropped: Subscription[] = []
  #talk: MarketTalk | null = null

  constructor(options: FeedOptions) {
    const { url, tokens, line, schedule } = options
    this.#options = options
    this.#changed = new EndOfTurn(() => this.#settle(), schedule)
    this.#line = new SharedLine({
      line,
      begin: async signal => new MarketTalk(url, await StreamToken.of(tokens, signal), this),
      lost: (cause, reason) => this.#lost(cause, reason),
      stopped: () => {
        this.#talk = null
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
        subscription.ask = null
        subscription.end()
        this.#changed.ask()
      }
    })
    this.#line.mayOpen()
    this.#changed.ask()
    return lease
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
    subscription.refused(message)
    this.#changed.ask()
  }

  missed(reason: string): void {
    for (const subscription of this.#wanted.values()) this.#askAnew(subscription, 'missing', reason)
    this.#changed.ask()
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
    this.#changed[Symbol.dispose]()
    this.#wanted.clear()
    this.#tables.clear()
    await this.#line[Symbol.asyncDispose]()
  }

  #lost(cause: GapCause, reason: string): void {
    this.#talk = null
    this.#dropped = []
    this.#tables.clear()
    for (const subscription of this.#wanted.values()) subscription.lost(cause, reason)
  }

  #renew(subscription: Subscription): void {
    if (this.#talk !== null) this.#askAnew(subscription, 'silence', 'nothing has come for too long, and it was asked for anew')
    this.#line.mayOpen()
    this.#changed.ask()
  }

  #askAnew(subscription: Subscription, cause: GapCause, reason: string): void {
    this.#unstream(subscription)
    subscription.lost(cause, reason)
  }

  #unstream(subscription: Subscription): void {
    this.#tables.remove(subscription.topic)
    if (subscription.ask !== null) this.#dropped.push(subscription)
  }

  #settle(): void {
    this.#refuseWhatIsNotStreamed()
    this.#flush()
    if (this.#wanted.size === 0) {
      this.#line.release()
      return
    }
    this.#line.hold()
    this.#line.open()
    const { outage } = this.#line
    if (outage !== null) for (const subscription of this.#wanted.values()) subscription.lost(outage.cause, outage.reason)
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
}
