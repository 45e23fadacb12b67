/** Items for one reader. What waits is bounded by those who put. */
export class Queue<T> {
  #items: T[] = []
  /** Of the array, what was taken already. */
  #taken = 0
  #error: unknown
  #isEnded = false
  #wake: () => void = () => undefined

  get length(): number {
    return this.#items.length - this.#taken
  }

  put(item: T): void {
    if (this.#isEnded) return
    this.#items.push(item)
    this.#wake()
  }

  /** Puts an item in the place of the waiting one that it makes needless, or at the end. */
  replace(item: T, isOld: (waiting: T) => boolean): void {
    const index = this.#items.findIndex((waiting, at) => at >= this.#taken && isOld(waiting))
    if (index < 0) this.put(item)
    else this.#items[index] = item
  }

  /** What waits is still read; then the reader ends, with the error if there is one. */
  end(error?: unknown): void {
    if (!this.#isEnded) this.#error = error
    this.#isEnded = true
    this.#wake()
  }

  /** One reader at a time. Ends at once when the signal aborts. `leave`: called when it has ended, however. */
  async *read(signal: AbortSignal | undefined, leave: () => void): AsyncGenerator<T, void, undefined> {
    const stop = (): void => this.#wake()
    signal?.addEventListener('abort', stop)
    try {
      while (!isAborted(signal)) {
        const item = this.#items[this.#taken]
        if (this.length > 0 && item !== undefined) {
          this.#take()
          yield item
        } else if (this.#isEnded) {
          if (this.#error !== undefined) throw this.#error
          return
        } else {
          await new Promise<void>(resolve => {
            this.#wake = resolve
          })
        }
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      leave()
    }
  }

  #take(): void {
    this.#taken += 1
    // An array that is emptied from its front item by item would be copied each time.
    if (this.#taken < this.#items.length && this.#taken < 1_024) return
    this.#items = this.#items.slice(this.#taken)
    this.#taken = 0
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}
