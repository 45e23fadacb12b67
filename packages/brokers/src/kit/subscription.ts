/** Streamed topics, and what their sinks received last. */

import type { GapCause } from '@trunkline/core/ports/broker'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'

export class Subscription<T = Topic> {
  readonly topic: T
  readonly sink: TopicSink
  #isLive = false
  #isOver = false
  /** The last loss cause given to its sink; null while live, and before anything was published. */
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

  /** Called once for a loss, and again only when its cause changes. */
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
 * Adds a topic that is wanted from now on. Its lease is valid for as long as the topic is wanted; releasing it removes the topic before `letGo` is called.
 * @throws Error when it is wanted already
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

/** For what is never streamed. The sink is called in a separate turn of the event loop, as for everything else. */
export function refusedLater(sink: TopicSink, message: string, schedule: (work: () => void) => void = setImmediate): TopicLease {
  const subscription = new Subscription(null, sink)
  schedule(() => subscription.refused(message))
  return { renew: () => undefined, [Symbol.dispose]: () => subscription.end() }
}
