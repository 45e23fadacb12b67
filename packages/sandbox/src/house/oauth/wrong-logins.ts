/** Walks that are remembered; of older ones the login page has forgotten that it was answered wrongly. */
const KEPT_MAX = 1_000

/** The username that was last entered with a password that is not its own, for each walk: what the login page says when it is shown again. */
export class WrongLogins {
  readonly #usernames = new Map<string, string>()

  note(walk: string, username: string): void {
    this.#usernames.delete(walk)
    this.#usernames.set(walk, username)
    for (const oldest of this.#usernames.keys()) {
      if (this.#usernames.size <= KEPT_MAX) break
      this.#usernames.delete(oldest)
    }
  }

  /** Null: nothing wrong was entered. */
  of(walk: string): string | null {
    return this.#usernames.get(walk) ?? null
  }
}
