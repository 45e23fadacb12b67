interface Task {
  result: Promise<unknown>
}

const READY = Promise.resolve()

/** Runs work one at a time per key, in call order; different keys run concurrently. A key is kept only while it has work. */
export class KeyedQueue<Key> {
  /** The last work of each key. */
  readonly #last = new Map<Key, Task>()

  /** Settles as `work` does, and the caller handles a rejection; it does not stop the work behind it. */
  run<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const task: Task = { result: READY }
    const result = this.#take(key, task, this.#last.get(key)?.result ?? READY, work)
    task.result = result
    this.#last.set(key, task)
    return result
  }

  /** Whether work of this key is running or waiting. */
  has(key: Key): boolean {
    return this.#last.has(key)
  }

  /** Resolves when all present work has ended. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#last.values()].map(({ result }) => result))
  }

  async #take<T>(key: Key, task: Task, before: Promise<unknown>, work: () => Promise<T>): Promise<T> {
    try {
      // Never runs synchronously: the caller may still have to record that the work is queued.
      await before
    } catch {
      // Its own caller has it.
    }
    try {
      return await work()
    } finally {
      if (this.#last.get(key) === task) this.#last.delete(key)
    }
  }
}
