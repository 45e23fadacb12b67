interface Pending<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void
  readonly reject: (error: unknown) => void
}

/** Items for one reader. */
export interface Reading<T> extends AsyncIterable<T> {
  next(): Promise<IteratorResult<T, undefined>>
  /** Ends it at once, also while a `next` waits. */
  return(): Promise<IteratorResult<T, undefined>>
  [Symbol.asyncIterator](): Reading<T>
}

/** What one reader iterates over, for the code that has its items. */
export interface Reader<T> extends Reading<T> {
  /** Nothing is added any more. */
  isEnded(): boolean
  /** Ends at once when the signal aborts. */
  stopWith(signal: AbortSignal | undefined): void
  /** What waits is still read; then it ends, with the error if there is one. */
  end(error?: unknown): void
  /** There may be an item. */
  wake(): void
}

/**
 * Written by hand, because an async generator keeps `return` waiting until its pending `next` is settled, and ends nothing if it is left
 * before its first `next`.
 * @param take the next item, if there is one
 * @param left called once, as soon as nothing may be added any more: by an end, by the signal, or because the reader leaves
 */
export function readerOf<T>(take: () => T | undefined, left: () => void): Reader<T> {
  const pending: Pending<T>[] = []
  let isEnded = false
  /** What still waits is not wanted. */
  let isStopped = false
  let failure: unknown
  let signal: AbortSignal | undefined

  function wake(): void {
    while (pending.length > 0) {
      const item = isStopped ? undefined : take()
      if (item === undefined && !isEnded) return
      const reading = pending.shift()
      const error = failure
      if (item !== undefined) reading?.resolve({ done: false, value: item })
      else if (error === undefined) reading?.resolve({ done: true, value: undefined })
      else {
        failure = undefined
        reading?.reject(error)
      }
    }
  }

  function stop(): void {
    isStopped = true
    failure = undefined
    finish()
  }

  function finish(): void {
    if (!isEnded) {
      isEnded = true
      signal?.removeEventListener('abort', stop)
      left()
    }
    wake()
  }

  return {
    isEnded: () => isEnded,
    stopWith(given) {
      signal = given
      signal?.addEventListener('abort', stop)
      if (signal?.aborted) stop()
    },
    end(error) {
      if (!isEnded) failure = error
      finish()
    },
    wake,
    next: () =>
      new Promise((resolve, reject) => {
        pending.push({ resolve, reject })
        wake()
      }),
    async return() {
      stop()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    }
  }
}
