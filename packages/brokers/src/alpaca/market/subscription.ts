/** One topic that somebody streams, and how far Alpaca is with it. */

import type { GapCause } from '@trunkline/core/ports/broker'
import type { TopicSink } from '@trunkline/core/ports/market'
import * as kit from '../../kit/subscription.ts'
import type { StreamedChannel } from './items.ts'

export interface StreamedTopic {
  readonly channel: StreamedChannel
  readonly symbol: string
}

export class Subscription extends kit.Subscription<StreamedTopic> {
  /** A chain reads its quotes itself and only follows what becomes of them. */
  readonly isOfChain: boolean
  /** Alpaca takes a symbol that does not exist without a word, so nothing is asked of the stream before it is known to. */
  isKnown = false
  /** Asked for on the present connection. */
  isRequested = false

  constructor(topic: StreamedTopic, sink: TopicSink, isOfChain: boolean) {
    super(topic, sink)
    this.isOfChain = isOfChain
  }

  override lost(cause: GapCause, reason: string): void {
    this.isRequested = false
    super.lost(cause, reason)
  }
}

/** Equal for what nobody may stream twice: a contract's quotes can be a topic and part of a chain. */
export function keyOf({ channel, symbol }: StreamedTopic, isOfChain: boolean): string {
  return `${channel} ${symbol}${isOfChain ? ' of a chain' : ''}`
}
