/** Batched work: done once at the end of a turn of the event loop, or tracked until it has ended. */

/** However often it is scheduled in one turn, it runs once, after the turn. */
export class FlushScheduler implements Disposable {
  readonly #work: () => void
  readonly #defer: (work: () => void) => void
  #isScheduled = false
  #isOver = false

  /** `schedule` runs something at the end of this turn; `setImmediate` unless a test says otherwise. */
  constructor(work: () => void, defer: (work: () => void) => void = setImmediate) {
    this.#work = work
    this.#defer = defer
  }

  schedule(): void {
    if (this.#isScheduled || this.#isOver) return
    this.#isScheduled = true
    this.#defer(() => {
      this.#isScheduled = false
      if (!this.#isOver) this.#work()
    })
  }

  [Symbol.dispose](): void {
    this.#isOver = true
  }
}

/** Promises that only the closing of their owner waits for. */
export class PendingTasks {
  readonly #works = new Set<Promise<void>>()

  /** `work` never rejects. */
  add(work: Promise<void>): void {
    const known = work.finally(() => this.#works.delete(known))
    this.#works.add(known)
  }

  get size(): number {
    return this.#works.size
  }

  async over(): Promise<void> {
    await Promise.all(this.#works)
  }
}
