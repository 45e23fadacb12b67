/** One login's events: numbered without gaps, and buffered so that a stream can resume after another one ended. */

/** Events remembered per login, by number and by characters; the oldest are dropped first. */
const EVENTS_MAX = 10_000
const CHARS_MAX = 4 * 1024 * 1024

/** An encoded event and its number. */
export interface Numbered {
  readonly seq: number
  readonly frame: string
}

/** Numbers begin with the first stream of the login, because no event can be missed before that. */
export class Channel {
  #seq = 0
  #remembered: Numbered[] = []
  #chars = 0

  get seq(): number {
    return this.#seq
  }

  add(frame: (seq: number) => string): Numbered {
    const seq = ++this.#seq
    const event = { seq, frame: frame(seq) }
    this.#remembered.push(event)
    this.#chars += event.frame.length
    // Dropping in bulk keeps the array from being shifted at every event.
    if (this.#remembered.length > EVENTS_MAX * 1.25 || this.#chars > CHARS_MAX * 1.25) this.#shed()
    return event
  }

  /** Everything after `seq`, or undefined if some of it is not remembered (or has not happened). */
  after(seq: number): readonly Numbered[] | undefined {
    if (seq === this.#seq) return []
    const first = this.#remembered[0]
    if (first === undefined || seq + 1 < first.seq || seq > this.#seq) return undefined
    return this.#remembered.slice(seq + 1 - first.seq)
  }

  #shed(): void {
    let drop = Math.max(0, this.#remembered.length - EVENTS_MAX)
    let chars = this.#chars
    for (const [nth, { frame }] of this.#remembered.entries()) {
      if (nth >= drop && chars <= CHARS_MAX) break
      drop = Math.max(drop, nth + 1)
      chars -= frame.length
    }
    this.#remembered = this.#remembered.slice(drop)
    this.#chars = chars
  }
}
