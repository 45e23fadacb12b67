/** Streamed topics and the state of their sinks. */

import type { GapCause } from '@trunkline/core/ports/gap'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'

export class Subscription<T = Topic> {
  readonly topic: T
  readonly sink: TopicSink
  #isLive = false
  #isOver = false
  /** The loss cause that was last sent to its sink; null while live, and before anything was published. */
  #outage: GapCause | null = null

  constructor(topic: T, sink: TopicSink) {
    this.topic = topic
    this.sink = sink
  }

  get isLive(): boolean {
    return this.#isLive
  }

  live(): void {
    if (this.#isLive || this.#isOver) return
    this.#isLive = true
    this.#outage = null
    this.sink.live()
  }

  /** Publishes a loss once, and again only when its cause changes. */
  lost(cause: GapCause, reason: string): void {
    this.#isLive = false
    if (this.#isOver || this.#outage === cause) return
    this.#outage = cause
    this.sink.lost(cause, reason)
  }

  refused(message: string): void {
    if (this.#isOver) return
    this.end()
    this.sink.refused(message)
  }

  /** Nothing is published any more. */
  end(): void {
    this.#isLive = false
    this.#isOver = true
  }
}

/** Equal for equal topics. No part of a topic has a space in it. */
export function keyOf(topic: Topic): string {
  switch (topic.channel) {
    case 'bars':
      return `bars ${topic.symbol} ${topic.interval}`
    case 'options_chain':
      return `options_chain ${topic.symbol} ${topic.expiration}`
    default:
      return `${topic.channel} ${topic.symbol}`
  }
}

/**
 * Adds a topic. Its lease is valid until it is released; a release removes the topic before it calls `letGo`.
 * @throws Error when the topic was added already
 */
export function leased<S>(
  wanted: Map<string, S>,
  key: string,
  subscription: S,
  { renew, letGo }: { readonly renew: () => void; readonly letGo: () => void }
): TopicLease {
  if (wanted.has(key)) throw new Error(`a topic can be streamed once, and ${key} is`)
  wanted.set(key, subscription)
  return {
    renew: () => {
      if (wanted.get(key) === subscription) renew()
    },
    [Symbol.dispose]: () => {
      if (wanted.get(key) !== subscription) return
      wanted.delete(key)
      letGo()
    }
  }
}

/** Refuses a topic that is never streamed. The sink is called in a later turn of the event loop, as for every topic. */
export function refusedLater(sink: TopicSink, message: string, schedule: (work: () => void) => void = setImmediate): TopicLease {
  const subscription = new Subscription(null, sink)
  schedule(() => subscription.refused(message))
  return { renew: () => undefined, [Symbol.dispose]: () => subscription.end() }
}
