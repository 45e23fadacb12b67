/** A decision that comes again within this time is the same click. */
const CLICKS_MS = 10_000
/** Logins that are remembered; a second click beyond them is answered like any other late form. */
const RECENT_MAX = 1_000

interface RecentAnswer {
  readonly location: Promise<string | null>
  readonly until: number
}

/**
 * Where each login led in the end. A browser whose user clicks twice drops the answer to the first click and shows that to the second: both must
 * lead to the same address, which holds the same code.
 */
export class Answered {
  readonly #now: () => number
  readonly #recent = new Map<string, RecentAnswer>()

  /** @param now real time in milliseconds */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Remembers the end of a login; `location` is null where it led nowhere. */
  note(login: string, location: Promise<string | null>): void {
    this.#recent.delete(login)
    this.#recent.set(login, { location, until: this.#now() + CLICKS_MS })
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= RECENT_MAX) break
      this.#recent.delete(oldest)
    }
  }

  /** Null: it has not ended, or longer ago than a second click takes. */
  of(login: string): Promise<string | null> | null {
    const recent = this.#recent.get(login)
    return recent === undefined || recent.until <= this.#now() ? null : recent.location
  }
}
