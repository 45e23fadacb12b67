/** Recognizes trades that a stream sends again. */

/** The last trades of a symbol. */
const RECENT = 64
/** A trade so much older than the newest is an old one that is repeated while nothing happens. */
const STALE_MS = 10_000

export class RecentTrades {
  readonly #keys = new Set<string>()
  #newestMs = 0

  /** Whether it was sent before. `key` identifies a trade; `atMs` is in milliseconds since the epoch. */
  isRepeated(key: string, atMs: number): boolean {
    if (atMs < this.#newestMs - STALE_MS || this.#keys.has(key)) return true
    this.#keys.add(key)
    if (this.#keys.size > RECENT)
      for (const oldest of this.#keys) {
        this.#keys.delete(oldest)
        break
      }
    this.#newestMs = Math.max(this.#newestMs, atMs)
    return false
  }
}
