import { type Bar, type ChainEntry, type Depth, msOfNanos, type Quote, type Trade } from '../../domain/market/records.ts'
import type { SharedTopic, TopicListener } from './shared-topic.ts'
import type { Topics } from './topics.ts'
import type { Watch, Watcher } from './watcher.ts'

/** A subscription to one topic, filtered only by a session's hours. */
export class TopicWatch implements Watch {
  readonly #topics: Topics
  readonly #topic: SharedTopic
  readonly #isInside: ((atMs: number) => boolean) | null
  #listener: TopicListener | null = null
  #isOver = false

  /** `isInside`: which trades are delivered, by their time in milliseconds; null: all. */
  constructor(topics: Topics, topic: SharedTopic, isInside: ((atMs: number) => boolean) | null) {
    this.#topics = topics
    this.#topic = topic
    this.#isInside = isInside
  }

  begin(watcher: Watcher): void {
    if (this.#isOver) return
    this.#listener = this.#isInside === null ? new Plain(watcher) : new Filtered(watcher, this.#isInside)
    this.#topic.add(this.#listener)
    if (this.#topic.state !== 'live') watcher.interrupted('the connection to the broker was lost while the subscription was made')
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#listener !== null) this.#topic.remove(this.#listener)
    this.#topics.leave(this.#topic)
  }
}

class Plain implements TopicListener {
  readonly #watcher: Watcher

  constructor(watcher: Watcher) {
    this.#watcher = watcher
  }

  trade(trade: Trade): void {
    this.#watcher.trade(trade)
  }

  quote(quote: Quote): void {
    this.#watcher.quote(quote)
  }

  depth(depth: Depth): void {
    this.#watcher.depth(depth)
  }

  chain(entry: ChainEntry): void {
    this.#watcher.chain(entry)
  }

  bar(bar: Bar): void {
    this.#watcher.bar(bar)
  }

  interrupted(reason: string): void {
    this.#watcher.interrupted(reason)
  }

  /** Nothing to do: the present state follows. */
  live(): void {}
}

class Filtered extends Plain {
  readonly #isInside: (atMs: number) => boolean

  constructor(watcher: Watcher, isInside: (atMs: number) => boolean) {
    super(watcher)
    this.#isInside = isInside
  }

  override trade(trade: Trade): void {
    if (this.#isInside(msOfNanos(trade.at))) super.trade(trade)
  }
}
