/** A bounded queue between one who puts and one who reads; at the bound its contents are given up for a statement that they were. */

export interface MailboxOptions<T> {
  readonly itemsMax: number
  /** What the reader is told instead of everything that was waiting. */
  readonly overflow: () => readonly T[]
  /** Items of one key say the same thing at different times: a newer one takes the place of one that still waits. Null: never replaced. */
  readonly keyOf?: (item: T) => string | null
}

export class Mailbox<T> implements AsyncIterable<T> {
  readonly #options: MailboxOptions<T>
  #items: T[] = []
  /** Where the waiting item of a key is. */
  readonly #places = new Map<string, number>()
  #wake: (() => void) | null = null
  #end: { readonly error: unknown } | 'open' | 'ended' = 'open'

  constructor(options: MailboxOptions<T>) {
    this.#options = options
  }

  /** Puts an item; after the end it is dropped. */
  put(item: T): void {
    if (this.#end !== 'open') return
    const key = this.#options.keyOf?.(item) ?? null
    const place = key === null ? undefined : this.#places.get(key)
    if (place !== undefined) {
      this.#items[place] = item
      return
    }
    if (this.#items.length >= this.#options.itemsMax) {
      this.#items = [...this.#options.overflow()]
      this.#places.clear()
    }
    if (key !== null) this.#places.set(key, this.#items.length)
    this.#items.push(item)
    this.#stir()
  }

  /** The reader gets what is waiting and then the end. */
  end(): void {
    if (this.#end === 'open') this.#end = 'ended'
    this.#stir()
  }

  /** The reader gets what is waiting and then `error`. */
  fail(error: unknown): void {
    if (this.#end === 'open') this.#end = { error }
    this.#stir()
  }

  /** For one reader. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const batch = this.#items
      this.#items = []
      this.#places.clear()
      yield* batch
      if (this.#items.length > 0) continue
      if (this.#end === 'ended') return
      if (this.#end !== 'open') throw this.#end.error
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }

  #stir(): void {
    this.#wake?.()
    this.#wake = null
  }
}
