/** Reads that commands wait for, shared by those that come together: a burst of orders would spend the quota otherwise. */

import type { Clock } from '@trunkline/core/ports/clock'

/** A read goes on when one of those who share it gives up, but not for ever. */
const READ_MS = 10_000

interface SharedReadsOptions<T> {
  readonly clock: Clock
  /** @throws BrokerFault */
  readonly read: (key: string, signal: AbortSignal) => Promise<T>
}

/** Each caller gets a read that began after its request, and no key is read more than once at a time. */
export class SharedReads<T> {
  readonly #options: SharedReadsOptions<T>
  /** By key: the read under way, and the one that begins when it has ended. */
  readonly #running = new Map<string, Promise<unknown>>()
  readonly #next = new Map<string, Promise<T>>()

  constructor(options: SharedReadsOptions<T>) {
    this.#options = options
  }

  /** @throws BrokerFault; the signal's reason when it aborts first. */
  async now(key: string, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    const givenUp = Promise.withResolvers<never>()
    const giveUp = () => givenUp.reject(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await Promise.race([this.#next.get(key) ?? this.#begin(key), givenUp.promise])
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  #begin(key: string): Promise<T> {
    const before = this.#running.get(key) ?? Promise.resolve()
    const read = before.then(() => {
      this.#next.delete(key)
      return this.#read(key)
    })
    this.#next.set(key, read)
    const ended = read.then(
      () => undefined,
      () => undefined
    )
    this.#running.set(key, ended)
    void ended.then(() => {
      if (this.#running.get(key) === ended) this.#running.delete(key)
    })
    return read
  }

  async #read(key: string): Promise<T> {
    const late = new AbortController()
    const alarm = this.#options.clock.alarm(READ_MS, () =>
      late.abort(new Error(`what an order waits for took more than ${READ_MS} ms to read`))
    )
    try {
      return await this.#options.read(key, late.signal)
    } finally {
      alarm[Symbol.dispose]()
    }
  }
}
