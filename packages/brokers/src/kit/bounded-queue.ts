/** A bounded queue between one who puts and one who reads; at the bound its contents are given up for a statement that they were. */

export interface BoundedQueueOptions<T> {
  readonly itemsMax: number
  /** What the reader receives instead of everything that was waiting. */
  readonly overflow: () => readonly T[]
}

/** One who reads, waiting for the next item. */
interface Reader<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void
  readonly reject: (error: unknown) => void
}

export class BoundedQueue<T> implements AsyncIterable<T> {
  readonly #options: BoundedQueueOptions<T>
  /** What waits, from `#read` on. */
  #items: IteratorYieldResult<T>[] = []
  #read = 0
  /** Where the waiting item of a key is; only while something waits. */
  #indexes: Map<string, number> | null = null
  #reader: Reader<T> | null = null
  #end: { readonly error: unknown } | 'open' | 'ended' = 'open'

  constructor(options: BoundedQueueOptions<T>) {
    this.#options = options
  }

  /**
   * Puts an item; after the end it is dropped. Items of one key are states of the same thing: a newer one replaces one that
   * still waits. Without a key each counts.
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

  /** The reader gets what is waiting and then the end. */
  end(): void {
    if (this.#end !== 'open') return
    this.#end = 'ended'
    this.#answer({ done: true, value: undefined })
  }

  /** The reader gets what is waiting and then `error`. */
  fail(error: unknown): void {
    if (this.#end !== 'open') return
    this.#end = { error }
    const reader = this.#reader
    this.#reader = null
    reader?.reject(error)
  }

  /** For one reader, which takes one item at a time. */
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
