/** Items that wait, in order. How many may wait is decided by those that put. */
export class Queue<T> {
  readonly #items = new Map<unknown, T>()
  /** Goes on over what is added meanwhile; one that begins at the front each time would pass by all that was taken. */
  #entries = this.#items.entries()

  get length(): number {
    return this.#items.size
  }

  /** Puts an item in the place of the waiting one with the same key, or at the end. */
  put(item: T, key: unknown = {}): void {
    this.#items.set(key, item)
  }

  delete(key: unknown): void {
    this.#items.delete(key)
  }

  take(): T | undefined {
    for (const _ of [1, 2]) {
      const { value } = this.#entries.next()
      if (value !== undefined) {
        this.#items.delete(value[0])
        return value[1]
      }
      this.#entries = this.#items.entries()
    }
    return undefined
  }
}
