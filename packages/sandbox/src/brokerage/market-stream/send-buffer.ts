/** Items for a slow reader: newer states replace older ones; trades and closed bars keep their order. */

export class SendBuffer {
  readonly #waiting = new Map<string, string>()
  #chars = 0
  #nth = 0

  get chars(): number {
    return this.#chars
  }

  get empty(): boolean {
    return this.#waiting.size === 0
  }

  /** `key` null: it is never replaced. Otherwise it replaces the item under that key, at the end of the queue. */
  put(item: string, key: string | null): void {
    if (key !== null) this.drop(key)
    this.#waiting.set(key ?? `#${this.#nth++}`, item)
    this.#chars += item.length
  }

  drop(key: string): void {
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) return
    this.#waiting.delete(key)
    this.#chars -= waiting.length
  }

  /** Takes the oldest items, joined by commas, up to this many characters. */
  take(charsMax: number): string {
    let text = ''
    for (const [key, item] of this.#waiting) {
      if (text !== '' && text.length + item.length > charsMax) break
      text += text === '' ? item : `,${item}`
      this.#waiting.delete(key)
      this.#chars -= item.length
    }
    return text
  }

  clear(): void {
    this.#waiting.clear()
    this.#chars = 0
  }
}
