import type { Clock } from '../../ports/clock.ts'

/**
 * Runs long work of the whole process in slices, one per turn of the event loop, so that orders wait for one slice and not for one of each
 * caller. Keys are served round-robin, and the callers of a key in order.
 */
export class WorkQueue<Key> {
  readonly #clock: Pick<Clock, 'nextTurn'>
  /** In the order in which keys are served next. */
  readonly #queues = new Map<Key, Set<() => void>>()
  #isServing = false

  constructor(clock: Pick<Clock, 'nextTurn'>) {
    this.#clock = clock
  }

  /** Resolves when one slice may run; the slice must not wait for anything. @throws the signal's reason if it aborts before */
  async take(key: Key, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const queue = this.#queues.get(key) ?? new Set()
    this.#queues.set(key, queue.add(resolve))
    const giveUp = () => {
      queue.delete(resolve)
      if (queue.size === 0 && this.#queues.get(key) === queue) this.#queues.delete(key)
      reject(signal.reason)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    if (!this.#isServing) void this.#serve()
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  async #serve(): Promise<void> {
    this.#isServing = true
    while (this.#serveNext()) await this.#clock.nextTurn()
    this.#isServing = false
  }

  /** False if none waits. */
  #serveNext(): boolean {
    for (const [key, queue] of this.#queues) {
      this.#queues.delete(key)
      for (const begin of queue) {
        queue.delete(begin)
        if (queue.size > 0) this.#queues.set(key, queue)
        begin()
        return true
      }
    }
    return false
  }
}
