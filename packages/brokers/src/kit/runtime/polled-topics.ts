/** Topics that a broker does not stream: polled, and only what has changed is published. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { PendingTasks } from '../flush-scheduler.ts'
import { lossOf } from '../stream-fault.ts'
import { Subscription } from '../subscription.ts'

export interface PolledTopicOptions {
  readonly clock: Clock
  /** From the end of one poll to the next, when so many topics are polled. */
  readonly everyMs: (topic: Topic, topics: number) => number
  /** Reads all parts of a topic as they are now. @throws BrokerFault, `refused` for one that cannot be polled */
  readonly read: (topic: Topic, signal: AbortSignal) => Promise<readonly TopicPart[]>
}

/** A part of a topic: published when it has changed. */
export interface TopicPart {
  readonly key: string
  readonly value: unknown
  readonly publish: (sink: TopicSink) => void
}

export class PolledTopics implements AsyncDisposable {
  readonly #options: PolledTopicOptions
  readonly #closing = new AbortController()
  readonly #running = new PendingTasks()

  constructor(options: PolledTopicOptions) {
    this.#options = options
  }

  stream(topic: Topic, sink: TopicSink): TopicLease {
    const stopping = new AbortController()
    const subscription = new Subscription(topic, sink)
    const everyMs = () => this.#options.everyMs(topic, this.#running.size)
    const poll = new PolledTopic({ ...this.#options, everyMs }, subscription, AbortSignal.any([stopping.signal, this.#closing.signal]))
    this.#running.add(poll.run())
    return {
      renew: () => poll.renew(),
      [Symbol.dispose]: () => stopping.abort(new Error('no longer watched'))
    }
  }

  /** Nothing is published any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the login was closed'))
    await this.#running.over()
  }
}

interface PolledTopicOwn extends Pick<PolledTopicOptions, 'clock' | 'read'> {
  readonly everyMs: () => number
}

class PolledTopic {
  readonly #options: PolledTopicOwn
  readonly #subscription: Subscription
  readonly #signal: AbortSignal
  /** What was published, by part; null at first and after a loss. */
  #published: ReadonlyMap<string, string> | null = null
  #waiting: AbortController | null = null

  constructor(options: PolledTopicOwn, subscription: Subscription, signal: AbortSignal) {
    this.#options = options
    this.#subscription = subscription
    this.#signal = signal
  }

  renew(): void {
    if (this.#signal.aborted) return
    this.#published = null
    this.#subscription.lost('silence', 'nothing was received for too long, so it was requested again')
    this.#waiting?.abort(new Error('requested again'))
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { topic, sink } = this.#subscription
    // The caller's sink receives nothing before the call returns.
    await Promise.resolve()
    while (!this.#signal.aborted) {
      let pauseMs = this.#options.everyMs()
      try {
        const parts = await this.#options.read(topic, this.#signal)
        if (this.#signal.aborted) return
        this.#subscription.live()
        this.#publish(parts)
      } catch (error) {
        if (this.#signal.aborted) return
        if (error instanceof BrokerFault && error.kind === 'refused') {
          sink.refused(error.message)
          return
        }
        // Rate limited: what is known is late, and not lost.
        if (error instanceof BrokerFault && error.kind === 'rate_limited') pauseMs = Math.max(pauseMs, error.retryAfterMs ?? 0)
        else this.#lost(error)
      }
      await this.#pause(pauseMs)
    }
  }

  #lost(error: unknown): void {
    this.#published = null
    const { cause, reason } = lossOf(error)
    this.#subscription.lost(cause, reason)
  }

  #publish(parts: readonly TopicPart[]): void {
    const before = this.#published
    const published = new Map<string, string>()
    this.#published = published
    for (const { key, value, publish } of parts) {
      if (this.#signal.aborted) return
      const text = JSON.stringify(value)
      published.set(key, text)
      if (before?.get(key) !== text) publish(this.#subscription.sink)
    }
  }

  async #pause(ms: number): Promise<void> {
    this.#waiting = new AbortController()
    await this.#options.clock.sleep(ms, AbortSignal.any([this.#signal, this.#waiting.signal])).catch(() => undefined)
    this.#waiting = null
  }
}
