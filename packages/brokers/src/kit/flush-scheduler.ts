/** Batched work: done once at the end of a turn of the event loop, or tracked until it has ended. */

/** Runs the work once after the current turn of the event loop, however often it is scheduled in that turn. */
export class FlushScheduler implements Disposable {
  readonly #work: () => void
  readonly #defer: (work: () => void) => void
  #isScheduled = false
  #isOver = false

  /** `defer` runs a function after the current turn of the event loop; tests replace `setImmediate`. */
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

/** Promises that are awaited only when their owner is closed. */
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
