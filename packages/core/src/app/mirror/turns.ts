import type { Clock } from '../../ports/clock.ts'
import { within } from '../within.ts'

/**
 * Lets so many work at once per key, in the order in which they asked. Whoever takes longer than `ms` works on, but its place goes to the
 * next: one that hangs holds nobody else up.
 */
export class Turns<Key> {
  readonly #clock: Clock
  readonly #limits: { readonly atOnce: number; readonly ms: number }
  readonly #lines = new Map<Key, { working: number; readonly waiting: Set<() => void> }>()

  constructor(clock: Clock, limits: { readonly atOnce: number; readonly ms: number }) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Resolves or rejects as `work` does. @throws the signal's reason when it aborts before the turn has come. */
  async take<T>(key: Key, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#turn(key, signal)
    const working = Promise.try(work)
    const over = within(
      this.#clock,
      working.then(
        () => true,
        () => true
      ),
      this.#limits.ms
    )
    void over.then(() => this.#next(key))
    return await working
  }

  async #turn(key: Key, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const line = this.#lines.get(key) ?? { working: 0, waiting: new Set() }
    this.#lines.set(key, line)
    if (line.working < this.#limits.atOnce) {
      line.working += 1
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = () => {
      line.waiting.delete(resolve)
      reject(signal.reason)
    }
    line.waiting.add(resolve)
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  /** The place passes on, or is free. */
  #next(key: Key): void {
    const line = this.#lines.get(key)
    if (line === undefined) return
    for (const first of line.waiting) {
      line.waiting.delete(first)
      first()
      return
    }
    line.working -= 1
    if (line.working === 0) this.#lines.delete(key)
  }
}
