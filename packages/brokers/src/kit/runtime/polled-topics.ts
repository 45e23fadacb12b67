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
  /** Polls, and publishes to the sink what has changed since `before`, its previous result; null at first and after a loss. */
  readonly read: (topic: Topic, sink: TopicSink, before: Published | null, signal: AbortSignal) => Promise<Published>
}

/** What was published to a topic's sink, by part. */
export type Published = ReadonlyMap<string, string>

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
  #published: Published | null = null
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
        const before = this.#published
        const published = await this.#options.read(topic, this.#guarded(sink), before, this.#signal)
        if (this.#signal.aborted) return
        this.#subscription.live()
        // A renewal meanwhile wants everything again.
        if (this.#published === before) this.#published = published
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

  /** Its first event is live; after the end there is none. */
  #guarded(sink: TopicSink): TopicSink {
    const guarded = (publish: () => void) => {
      if (this.#signal.aborted) return
      this.#subscription.live()
      publish()
    }
    return {
      live: () => sink.live(),
      lost: (cause, reason) => sink.lost(cause, reason),
      refused: message => sink.refused(message),
      trade: trade => guarded(() => sink.trade(trade)),
      quote: quote => guarded(() => sink.quote(quote)),
      depth: depth => guarded(() => sink.depth(depth)),
      bar: bar => guarded(() => sink.bar(bar)),
      chain: entry => guarded(() => sink.chain(entry))
    }
  }

  async #pause(ms: number): Promise<void> {
    this.#waiting = new AbortController()
    await this.#options.clock.sleep(ms, AbortSignal.any([this.#signal, this.#waiting.signal])).catch(() => undefined)
    this.#waiting = null
  }
}

/** Publishes those records that differ from what was published. Returns what is published now, for {@link PolledTopicOptions.read}. */
export function publishChanges<T>(
  records: readonly T[],
  keyOf: (record: T) => string,
  before: Published | null,
  publish: (record: T) => void
): Published {
  const published = new Map<string, string>()
  for (const record of records) {
    const [key, text] = [keyOf(record), JSON.stringify(record)]
    published.set(key, text)
    if (before?.get(key) !== text) publish(record)
  }
  return published
}
