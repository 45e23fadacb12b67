/** A decision that comes again within this time is the same click. */
const CLICKS_MS = 10_000
/** Logins that are remembered; a second click beyond them is answered like any other late form. */
const KEPT_MAX = 1_000

interface Kept {
  readonly location: Promise<string | null>
  readonly until: number
}

/**
 * Where each login led in the end. A browser whose user clicks twice drops the answer to the first click and shows that to the second: both must
 * lead to the same address, which holds the same code.
 */
export class Answered {
  readonly #now: () => number
  readonly #kept = new Map<string, Kept>()

  /** @param now real time in milliseconds */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Remembers the end of a login; `location` is null where it led nowhere. */
  note(login: string, location: Promise<string | null>): void {
    this.#kept.delete(login)
    this.#kept.set(login, { location, until: this.#now() + CLICKS_MS })
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX) break
      this.#kept.delete(oldest)
    }
  }

  /** Null: it has not ended, or longer ago than a second click takes. */
  of(login: string): Promise<string | null> | null {
    const kept = this.#kept.get(login)
    return kept === undefined || kept.until <= this.#now() ? null : kept.location
  }
}
