/** Numbers that may be this far behind the highest one. Far more requests than are on their way between two nodes. */
export const REPLAY_WINDOW = 65_536
const WORD = 32

/** Accepts each number of a counter once, in about the order in which they were drawn. Much too old ones count as repeated. */
export class ReplayWindow {
  readonly #seen = new Uint32Array(REPLAY_WINDOW / WORD)
  #highest = -1

  /** Whether the number is new. */
  accept(count: number): boolean {
    if (!Number.isSafeInteger(count) || count < 0 || count <= this.#highest - REPLAY_WINDOW) return false
    if (count > this.#highest) this.#advance(count)
    else if (this.#has(count)) return false
    this.#put(count, true)
    return true
  }

  #advance(count: number): void {
    if (count - this.#highest >= REPLAY_WINDOW) this.#seen.fill(0)
    else for (let at = this.#highest + 1; at <= count; at++) this.#put(at, false)
    this.#highest = count
  }

  #has(count: number): boolean {
    const at = count % REPLAY_WINDOW
    return ((this.#seen[Math.floor(at / WORD)] ?? 0) & (1 << (at % WORD))) !== 0
  }

  #put(count: number, isSeen: boolean): void {
    const at = count % REPLAY_WINDOW
    const word = Math.floor(at / WORD)
    const bit = 1 << (at % WORD)
    this.#seen[word] = isSeen ? (this.#seen[word] ?? 0) | bit : (this.#seen[word] ?? 0) & ~bit
  }
}
