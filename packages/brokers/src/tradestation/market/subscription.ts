/** One topic that somebody streams, and what its sink was told last. */

import type { GapCause } from '@trunkline/core/ports/broker'
import type { Topic, TopicSink } from '@trunkline/core/ports/market'

export class Subscription {
  readonly topic: Topic
  readonly sink: TopicSink
  #isLive = false
  #isOver = false
  #outage: GapCause | null = null

  constructor(topic: Topic, sink: TopicSink) {
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
