/** Some facts by key, the newest of them: at the bound the one learnt longest ago is forgotten. */

export class Remembered<T> {
  readonly #max: number
  readonly #facts = new Map<string, T>()

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): T | undefined {
    return this.#facts.get(key)
  }

  put(key: string, fact: T): void {
    this.#facts.delete(key)
    if (this.#facts.size >= this.#max)
      for (const oldest of this.#facts.keys()) {
        this.#facts.delete(oldest)
        break
      }
    this.#facts.set(key, fact)
  }

  delete(key: string): void {
    this.#facts.delete(key)
  }
}
