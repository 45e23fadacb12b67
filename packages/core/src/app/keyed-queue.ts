/** Runs work one at a time per key, in the order of the calls; different keys run concurrently. Keeps a key only while work waits for it. */
export class KeyedQueue<Key> {
  readonly #tails = new Map<Key, Promise<unknown>>()

  /** Resolves or rejects as `work` does; a rejection does not stop those behind it. */
  run<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    // Never synchronously: the caller may still have to record that the work waits.
    const result = (before ?? Promise.resolve()).then(work, work)
    this.#tails.set(key, result)
    const release = () => {
      if (this.#tails.get(key) === result) this.#tails.delete(key)
    }
    result.then(release, release)
    return result
  }

  /** Resolves when everything that waits or runs now has ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#tails.values())
  }
}
