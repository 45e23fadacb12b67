/** Topics that somebody streams, and what their sinks were told last. */

import type { GapCause } from '@trunkline/core/ports/broker'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'

export class Subscription<T = Topic> {
  readonly topic: T
  readonly sink: TopicSink
  #isLive = false
  #isOver = false
  /** What its sink was told last to have been lost by; null while live, and before anything was told. */
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

  /** Told once for a loss, and again only when its cause has become another one. */
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

  /** Nothing is told any more. */
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
 * Adds what is wanted from now on. Its lease speaks for as long as it is still wanted; letting go takes it away before `letGo` is called.
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

/** For what is never streamed. Told in a turn of its own, as everything else is. */
export function refusedLater(sink: TopicSink, message: string, schedule: (work: () => void) => void = setImmediate): TopicLease {
  const subscription = new Subscription(null, sink)
  schedule(() => subscription.refused(message))
  return { renew: () => undefined, [Symbol.dispose]: () => subscription.end() }
}
