/** One topic that somebody streams, and what was told of it last. */

import type { GapCause } from '@trunkline/core/ports/broker'
import type { Topic, TopicSink } from '@trunkline/core/ports/market'

export class Subscription {
  readonly topic: Topic
  readonly sink: TopicSink
  isLive = false
  /** What its sink was told last to have been lost by; null while live, and before anything was told. */
  #outage: GapCause | null = null

  constructor(topic: Topic, sink: TopicSink) {
    this.topic = topic
    this.sink = sink
  }

  live(): void {
    if (this.isLive) return
    this.isLive = true
    this.#outage = null
    this.sink.live()
  }

  /** Told once for a loss, and again only when its cause has become another one. */
  lost(cause: GapCause, reason: string): void {
    this.isLive = false
    if (this.#outage === cause) return
    this.#outage = cause
    this.sink.lost(cause, reason)
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
