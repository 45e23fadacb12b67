/** For streams that only report that something changed: reads the current state, with one read per key at a time and a minimum pause. */

import type { Clock } from '@trunkline/core/ports/clock'

export interface RefetchOptions {
  readonly clock: Clock
  /** Pause between the end of one read of a key and the start of the next. Changes in that time are read together. */
  readonly spacingMs: number
  readonly read: (key: string, signal: AbortSignal) => Promise<void>
  /** A read failed after its retries; the key is not read until it changes again. */
  readonly failed: (key: string, error: unknown) => void
}

export class Refetch implements AsyncDisposable {
  readonly #options: RefetchOptions
  readonly #closing = new AbortController()
  /** Keys being read, and whether they changed again since that read began. */
  readonly #running = new Map<string, { again: boolean; readonly done: Promise<void> }>()

  constructor(options: RefetchOptions) {
    this.#options = options
  }

  changed(key: string): void {
    if (this.#closing.signal.aborted) return
    const running = this.#running.get(key)
    if (running !== undefined) running.again = true
    else this.#running.set(key, { again: true, done: Promise.resolve().then(() => this.#run(key)) })
  }

  /** Aborts the reads in progress. Never rejects. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the stream ended'))
    await Promise.all([...this.#running.values()].map(running => running.done))
  }

  /** Never rejects. */
  async #run(key: string): Promise<void> {
    const { signal } = this.#closing
    try {
      for (let running = this.#running.get(key); running?.again === true && !signal.aborted; running = this.#running.get(key)) {
        running.again = false
        await this.#options.read(key, signal)
        await this.#options.clock.sleep(this.#options.spacingMs, signal)
      }
    } catch (error) {
      if (!signal.aborted) this.#options.failed(key, error)
    } finally {
      this.#running.delete(key)
    }
  }
}
