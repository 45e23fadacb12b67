/** Where the items of the market stream go: by kind and symbol to the sink that streams it. */

import type { Day } from '@trunkline/core/domain/timestamp'
import type { Topic, TopicSink } from '@trunkline/core/ports/market'

/** The only interval of bars that the sandbox streams. */
export const STREAMED_INTERVAL = '1m'
export const STREAMED_INTERVAL_MS = 60_000

export interface ChainSink {
  readonly sink: TopicSink
  readonly expiration: Day
}

export class SinkTables {
  readonly trades = new Map<string, TopicSink>()
  readonly quotes = new Map<string, TopicSink>()
  readonly depth = new Map<string, TopicSink>()
  readonly bars = new Map<string, TopicSink>()
  /** By underlying, then by expiration. */
  readonly chains = new Map<string, Map<string, ChainSink>>()

  add(topic: Topic, sink: TopicSink): void {
    if (topic.channel !== 'options_chain') {
      this[topic.channel].set(topic.symbol, sink)
      return
    }
    let expirations = this.chains.get(topic.symbol)
    if (expirations === undefined) {
      expirations = new Map()
      this.chains.set(topic.symbol, expirations)
    }
    expirations.set(topic.expiration, { sink, expiration: topic.expiration })
  }

  remove(topic: Topic): void {
    if (topic.channel !== 'options_chain') {
      this[topic.channel].delete(topic.symbol)
      return
    }
    const expirations = this.chains.get(topic.symbol)
    expirations?.delete(topic.expiration)
    if (expirations?.size === 0) this.chains.delete(topic.symbol)
  }

  clear(): void {
    for (const table of [this.trades, this.quotes, this.depth, this.bars, this.chains]) table.clear()
  }
}
