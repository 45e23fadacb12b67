/** One topic that somebody streams, and how far Alpaca is with it. */

import type { GapCause } from '@trunkline/core/ports/broker'
import type { TopicSink } from '@trunkline/core/ports/market'
import type { StreamedChannel } from './items.ts'

export interface StreamedTopic {
  readonly channel: StreamedChannel
  readonly symbol: string
}

export class Subscription {
  readonly topic: StreamedTopic
  readonly sink: TopicSink
  /** A chain reads its quotes itself and only follows what becomes of them. */
  readonly isOfChain: boolean
  /** Alpaca takes a symbol that does not exist without a word, so nothing is asked of the stream before it is known to. */
  isKnown = false
  /** Asked for on the present connection. */
  isAsked = false
  isLive = false
  /** What its sink was told last to have been lost by; null while live, and before anything was told. */
  #outage: GapCause | null = null

  constructor(topic: StreamedTopic, sink: TopicSink, isOfChain: boolean) {
    this.topic = topic
    this.sink = sink
    this.isOfChain = isOfChain
  }

  live(): void {
    this.isLive = true
    this.#outage = null
    this.sink.live()
  }

  /** Told once for a loss, and again only when its cause has become another one. */
  lost(cause: GapCause, reason: string): void {
    this.isLive = false
    this.isAsked = false
    if (this.#outage === cause) return
    this.#outage = cause
    this.sink.lost(cause, reason)
  }
}

/** Equal for what nobody may stream twice: a contract's quotes can be a topic and part of a chain. */
export function keyOf({ channel, symbol }: StreamedTopic, isOfChain: boolean): string {
  return `${channel} ${symbol}${isOfChain ? ' of a chain' : ''}`
}
