/** A bounded queue for one producer and one reader; at the bound its contents are replaced by one item that reports the overflow. */

export interface BoundedQueueOptions<T> {
  readonly itemsMax: number
  /** The item that the reader receives instead of the dropped ones. */
  readonly overflow: () => readonly T[]
}

/** A reader that waits for the next item. */
interface Reader<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void
  readonly reject: (error: unknown) => void
}

export class BoundedQueue<T> implements AsyncIterable<T> {
  readonly #options: BoundedQueueOptions<T>
  /** The waiting items, from `#read` on. */
  #items: IteratorYieldResult<T>[] = []
  #read = 0
  /** Index of each key's waiting item; only while items wait. */
  #indexes: Map<string, number> | null = null
  #reader: Reader<T> | null = null
  #end: { readonly error: unknown } | 'open' | 'ended' = 'open'

  constructor(options: BoundedQueueOptions<T>) {
    this.#options = options
  }

  /**
   * Puts an item; after the end it is dropped. Items of one key are states of the same object: a newer one replaces a waiting one. Items
   * without a key are all delivered.
   */
  put(item: T, key: string | null = null): void {
    if (this.#end !== 'open') return
    const result: IteratorYieldResult<T> = { done: false, value: item }
    if (this.#reader !== null) {
      this.#answer(result)
      return
    }
    const index = key === null ? undefined : this.#indexes?.get(key)
    if (index !== undefined && index >= this.#read) {
      this.#items[index] = result
      return
    }
    if (this.#items.length - this.#read >= this.#options.itemsMax) this.#empty(this.#options.overflow())
    if (key !== null) {
      this.#indexes ??= new Map()
      this.#indexes.set(key, this.#items.length)
    }
    this.#items.push(result)
  }

  /** The reader receives the waiting items and then the end. */
  end(): void {
    if (this.#end !== 'open') return
    this.#end = 'ended'
    this.#answer({ done: true, value: undefined })
  }

  /** The reader receives the waiting items and then `error`. */
  fail(error: unknown): void {
    if (this.#end !== 'open') return
    this.#end = { error }
    const reader = this.#reader
    this.#reader = null
    reader?.reject(error)
  }

  /** For a single reader that takes one item at a time. */
  async next(): Promise<IteratorResult<T, undefined>> {
    const first = this.#items[this.#read]
    if (first !== undefined) {
      this.#read += 1
      if (this.#read === this.#items.length) this.#empty([])
      return first
    }
    if (this.#end === 'ended') return { done: true, value: undefined }
    if (this.#end !== 'open') throw this.#end.error
    return await new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
    })
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return { next: () => this.next() }
  }

  #empty(rest: readonly T[]): void {
    this.#items = rest.map(value => ({ done: false, value }))
    this.#read = 0
    this.#indexes = null
  }

  #answer(result: IteratorResult<T, undefined>): void {
    const reader = this.#reader
    this.#reader = null
    reader?.resolve(result)
  }
}
