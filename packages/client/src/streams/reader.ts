interface Pending<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void
  readonly reject: (error: unknown) => void
}

/** Items for one reader. */
export interface Reading<T> extends AsyncIterableIterator<T, undefined, undefined> {
  /** Ends it at once, also while a `next` waits. */
  return(): Promise<IteratorResult<T, undefined>>
}

/**
 * What one reader iterates over. Written by hand, because an async generator keeps `return` waiting until its pending `next` is settled,
 * and ends nothing if it is left before its first `next`.
 */
export abstract class Reader<T> implements Reading<T> {
  readonly #pending: Pending<T>[] = []
  #isEnded = false
  /** What still waits is not wanted. */
  #isStopped = false
  #error: unknown
  #signal: AbortSignal | undefined

  /** Nothing is added any more. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Ends at once when the signal aborts. */
  stopWith(signal: AbortSignal | undefined): void {
    this.#signal = signal
    signal?.addEventListener('abort', this.#stop)
    if (signal?.aborted) this.#stop()
  }

  /** What waits is still read; then it ends, with the error if there is one. */
  end(error?: unknown): void {
    if (!this.#isEnded) this.#error = error
    this.#end()
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject })
      this.wake()
    })
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#stop()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The next item, if there is one. */
  protected abstract take(): T | undefined

  /** Called once, as soon as nothing may be added any more: by an end, by the signal, or because the reader leaves. */
  protected abstract ended(): void

  /** There may be an item. */
  protected wake(): void {
    while (this.#pending.length > 0) {
      const item = this.#isStopped ? undefined : this.take()
      if (item === undefined && !this.#isEnded) return
      const reading = this.#pending.shift()
      const error = this.#error
      if (item !== undefined) reading?.resolve({ done: false, value: item })
      else if (error === undefined) reading?.resolve({ done: true, value: undefined })
      else {
        this.#error = undefined
        reading?.reject(error)
      }
    }
  }

  readonly #stop = (): void => {
    this.#isStopped = true
    this.#error = undefined
    this.#end()
  }

  #end(): void {
    if (!this.#isEnded) {
      this.#isEnded = true
      this.#signal?.removeEventListener('abort', this.#stop)
      this.ended()
    }
    this.wake()
  }
}
