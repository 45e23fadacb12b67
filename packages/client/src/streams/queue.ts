/** Items that wait, in order. How many may wait is decided by those that put. */
export interface Queue<T> {
  length(): number
  /** Puts an item in the place of the waiting one with the same key, or at the end. */
  put(item: T, key?: unknown): void
  delete(key: unknown): void
  take(): T | undefined
}

export function queueOf<T>(): Queue<T> {
  const items = new Map<unknown, T>()
  /** Goes on over what is added meanwhile; one that begins at the front each time would pass by all that was taken. */
  let entries = items.entries()
  return {
    length: () => items.size,
    put: (item, key = {}) => void items.set(key, item),
    delete: key => void items.delete(key),
    take() {
      for (const _ of [1, 2]) {
        const { value } = entries.next()
        if (value !== undefined) {
          items.delete(value[0])
          return value[1]
        }
        entries = items.entries()
      }
      return undefined
    }
  }
}
