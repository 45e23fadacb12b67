/** A cache of the last few results by key; drops the oldest first. */
export class Recent<Key, Value> {
  readonly #values = new Map<Key, Value>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get(key: Key, make: () => Value): Value {
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const value = make()
    this.#values.set(key, value)
    const [first] = this.#values.keys()
    if (this.#values.size > this.#most && first !== undefined) this.#values.delete(first)
    return value
  }
}
