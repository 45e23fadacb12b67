/** A sink that records its calls, in order. */

import assert from 'node:assert/strict'
import type { TopicSink } from '@trunkline/core/ports/market'
import { until } from '@trunkline/testkit/until'

type Json = ReturnType<typeof JSON.parse>

export class RecordingSink implements TopicSink {
  readonly history: string[] = []
  readonly events: Json[] = []

  live(): void {
    this.history.push('live')
  }

  lost(cause: string): void {
    this.history.push(`lost ${cause}`)
  }

  refused(message: string): void {
    this.history.push('refused')
    this.events.push(message)
  }

  trade(event: object): void {
    this.#record('trade', event)
  }

  quote(event: object): void {
    this.#record('quote', event)
  }

  depth(event: object): void {
    this.#record('depth', event)
  }

  bar(event: object): void {
    this.#record('bar', event)
  }

  chain(event: object): void {
    this.#record('chain', event)
  }

  async receives(...history: readonly string[]): Promise<void> {
    await until(() => this.history.length >= history.length, `${history.join(', ')} is reported`).catch((cause: unknown) => {
      throw new Error(`${history.join(', ')} is received; so far ${this.history.join(', ')}`, { cause })
    })
    assert.deepEqual(this.history, history)
  }

  #record(kind: string, event: object): void {
    this.history.push(kind)
    this.events.push(event)
  }
}
