/** A sink that remembers what it was told, in order. */

import assert from 'node:assert/strict'
import type { TopicSink } from '@trunkline/core/ports/market'
import { until } from '@trunkline/testkit/until'
import type { Json } from '../fixtures.ts'

export class Told implements TopicSink {
  readonly words: string[] = []
  readonly events: Json[] = []

  live(): void {
    this.words.push('live')
  }

  lost(cause: string): void {
    this.words.push(`lost ${cause}`)
  }

  refused(message: string): void {
    this.words.push('refused')
    this.events.push(message)
  }

  trade(event: object): void {
    this.#event('trade', event)
  }

  quote(event: object): void {
    this.#event('quote', event)
  }

  depth(event: object): void {
    this.#event('depth', event)
  }

  bar(event: object): void {
    this.#event('bar', event)
  }

  chain(event: object): void {
    this.#event('chain', event)
  }

  async hears(...words: readonly string[]): Promise<void> {
    await until(() => this.words.length >= words.length, `${words.join(', ')} is told`).catch((cause: unknown) => {
      throw new Error(`${words.join(', ')} is told, so far ${this.words.join(', ')}`, { cause })
    })
    assert.deepEqual(this.words, words)
  }

  #event(word: string, event: object): void {
    this.words.push(word)
    this.events.push(event)
  }
}
