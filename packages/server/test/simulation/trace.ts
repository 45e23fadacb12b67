// What happened in a simulated day, line by line, in a text that is the same whenever the day is the same.
import { createHash } from 'node:crypto'

/**
 * Ids that a run makes are its own; in the trace each is the number of its first appearance. The second kind is the end of an account's.
 */
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<=@)[0-9a-f]{12}/g

export class Trace {
  readonly lines: string[] = []
  /** How often each kind of thing happened. */
  readonly counts = new Map<string, number>()
  readonly #nowMs: () => number
  readonly #ids = new Map<string, string>()
  readonly #listener: ((line: string) => void) | null
  readonly #hash = createHash('sha256')

  /** `listener` gets every line at once: a run that hangs has shown where. */
  constructor(nowMs: () => number, listener: ((line: string) => void) | null = null) {
    this.#nowMs = nowMs
    this.#listener = listener
  }

  note(what: string): void {
    const line = `${String(this.#nowMs()).padStart(8)} ms  ${this.plain(what)}`
    this.lines.push(line)
    this.#listener?.(line)
    this.#hash.update(line)
  }

  /** Counts for the hash, and is too much to be read. */
  mix(what: string): void {
    this.#hash.update(this.plain(what))
  }

  met(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  /** The text with this run's ids replaced by their numbers. */
  plain(text: string): string {
    return text.replace(ID, id => {
      const known = this.#ids.get(id)
      if (known !== undefined) return known
      const name = `#${this.#ids.size + 1}`
      this.#ids.set(id, name)
      return name
    })
  }

  /** Of everything so far: equal for two runs in which the same happened. */
  get hash(): string {
    return this.#hash.copy().digest('hex').slice(0, 16)
  }

  tail(count: number): string {
    return this.lines.slice(-count).join('\n')
  }
}
