import type { StreamMessage } from '../../../packages/brokers/src/kit/stream-protocol.ts'
import type { AccountEvent } from '../../../packages/core/src/ports/broker.ts'
import type { TopicSink } from '../../../packages/core/src/ports/market.ts'

/** Counts the records that arrive. */
export class Counter implements TopicSink {
  records = 0

  trade(): void {
    this.records += 1
  }

  quote(): void {
    this.records += 1
  }

  live(): void {}
  lost(): void {}
  refused(): void {}
  depth(): void {}
  bar(): void {}
  chain(): void {}
}

/** The orders among the received items. */
export function orders(messages: readonly StreamMessage<AccountEvent>[]): number {
  let found = 0
  for (const item of messages) if (item.type === 'event' && item.event.type === 'order') found += 1
  return found
}
