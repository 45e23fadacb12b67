/** A repeated decision within this time is the same click. */
const CLICKS_MS = 10_000
/** Logins remembered; a second click beyond these is answered like any other late form. */
const RECENT_MAX = 1_000

interface RecentAnswer {
  readonly location: Promise<string | null>
  readonly until: number
}

/**
 * The final redirect of each login. A browser whose user clicks twice drops the answer to the first click and shows that to the second:
 * both must lead to the same address, with the same code.
 */
export class Answered {
  readonly #now: () => number
  readonly #recent = new Map<string, RecentAnswer>()

  /** @param now real time in milliseconds */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Remembers the end of a login; `location` is null without a redirect. */
  note(login: string, location: Promise<string | null>): void {
    this.#recent.delete(login)
    this.#recent.set(login, { location, until: this.#now() + CLICKS_MS })
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= RECENT_MAX) break
      this.#recent.delete(oldest)
    }
  }

  /** Null: it has not ended, or ended longer ago than a second click takes. */
  of(login: string): Promise<string | null> | null {
    const recent = this.#recent.get(login)
    return recent === undefined || recent.until <= this.#now() ? null : recent.location
  }
}
