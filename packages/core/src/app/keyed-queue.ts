/** Runs work one at a time per key, in call order; different keys run concurrently. A key is kept only while it has work. */
export class KeyedQueue<Key> {
  readonly #tails = new Map<Key, Promise<unknown>>()

  /** Settles as `work` does; a rejection does not stop the work behind it. */
  run<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    // Never runs synchronously: the caller may still have to record that the work is queued.
    const result = (before ?? Promise.resolve()).then(work, work)
    this.#tails.set(key, result)
    const release = () => {
      if (this.#tails.get(key) === result) this.#tails.delete(key)
    }
    result.then(release, release)
    return result
  }

  /** Resolves when all present work has ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#tails.values())
  }
}
