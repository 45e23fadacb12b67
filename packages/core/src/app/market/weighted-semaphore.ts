/** A weighted semaphore: starts work in call order while the total weight in progress is within a bound. */
export class WeightedSemaphore {
  readonly #most: number
  #used = 0
  readonly #waiting = new Set<{ readonly weight: number; readonly begin: () => void }>()

  constructor(most: number) {
    this.#most = most
  }

  /** Settles as `work` does. Work heavier than the bound runs alone. @throws the signal's reason if it aborts before */
  async take<T>(weight: number, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#acquire(weight, signal)
    try {
      return await work()
    } finally {
      this.#used -= weight
      this.#next()
    }
  }

  async #acquire(weight: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#waiting.size === 0 && this.#fits(weight)) {
      this.#used += weight
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const entry = { weight, begin: resolve }
    const giveUp = () => {
      this.#waiting.delete(entry)
      reject(signal.reason)
      // Work behind it may be light enough.
      this.#next()
    }
    this.#waiting.add(entry)
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  #next(): void {
    for (const entry of this.#waiting) {
      if (!this.#fits(entry.weight)) return
      this.#waiting.delete(entry)
      this.#used += entry.weight
      entry.begin()
    }
  }

  #fits(weight: number): boolean {
    return this.#used === 0 || this.#used + weight <= this.#most
  }
}
