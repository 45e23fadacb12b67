/** Waits in real time; all end when the sandbox closes. */

import { setTimeout as wait } from 'node:timers/promises'

export class Timers {
  readonly #closing = new AbortController()

  /** Ends early, without an error, when the sandbox closes. */
  async wait(ms: number): Promise<void> {
    try {
      await wait(ms, undefined, { signal: this.#closing.signal, ref: false })
    } catch (error) {
      if (!this.#closing.signal.aborted) throw error
    }
  }

  /** Runs `work` after this time, unless the sandbox has closed by then. */
  later(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      if (!this.#closing.signal.aborted) work()
    }, ms)
    timer.unref()
  }

  close(): void {
    this.#closing.abort()
  }
}
