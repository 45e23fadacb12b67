/** One streamed topic, and how far Alpaca is with it. */

import type { GapCause } from '@trunkline/core/ports/gap'
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
  /** Alpaca accepts a symbol that does not exist without an error, so nothing is requested from the stream before it is known to exist. */
  isKnown = false
  /** Requested on the current connection. */
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

/** Equal for what may not be streamed twice: a contract's quotes can be a topic and part of a chain. */
export function keyOf({ channel, symbol }: StreamedTopic, isOfChain: boolean): string {
  return `${channel} ${symbol}${isOfChain ? ' of a chain' : ''}`
}
