import type { Clock } from '../ports/clock.ts'
import { within } from './time-limits.ts'

/**
 * A semaphore per key: admits a number of tasks at once, in call order. A task that takes longer than `ms` continues, but its slot passes
 * to the next, so that a hanging task blocks no other.
 */
export class Semaphore<Key> {
  readonly #clock: Clock
  readonly #limits: { readonly atOnce: number; readonly ms: number }
  readonly #queues = new Map<Key, { working: number; readonly waiting: Set<() => void> }>()

  constructor(clock: Clock, limits: { readonly atOnce: number; readonly ms: number }) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Settles as `work` does. @throws the signal's reason if it aborts before a slot is free. */
  async take<T>(key: Key, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#acquire(key, signal)
    const working = Promise.try(work)
    const over = within(
      this.#clock,
      working.then(
        () => true,
        () => true
      ),
      this.#limits.ms
    )
    void over.then(() => this.#release(key))
    return await working
  }

  async #acquire(key: Key, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const queue = this.#queues.get(key) ?? { working: 0, waiting: new Set() }
    this.#queues.set(key, queue)
    if (queue.working < this.#limits.atOnce) {
      queue.working += 1
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = () => {
      queue.waiting.delete(resolve)
      reject(signal.reason)
    }
    queue.waiting.add(resolve)
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  /** Passes the slot on, or frees it. */
  #release(key: Key): void {
    const queue = this.#queues.get(key)
    if (queue === undefined) return
    for (const first of queue.waiting) {
      queue.waiting.delete(first)
      first()
      return
    }
    queue.working -= 1
    if (queue.working === 0) this.#queues.delete(key)
  }
}
