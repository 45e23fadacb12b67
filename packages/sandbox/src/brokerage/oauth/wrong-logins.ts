/** Walks that are remembered; of older ones the login page has forgotten that it was answered wrongly. */
const USERNAMES_MAX = 1_000

/** The username that was last entered with a password that is not its own, for each walk: what the login page says when it is shown again. */
export class WrongLogins {
  readonly #usernames = new Map<string, string>()

  note(flow: string, username: string): void {
    this.#usernames.delete(flow)
    this.#usernames.set(flow, username)
    for (const oldest of this.#usernames.keys()) {
      if (this.#usernames.size <= USERNAMES_MAX) break
      this.#usernames.delete(oldest)
    }
  }

  /** Null: nothing wrong was entered. */
  of(flow: string): string | null {
    return this.#usernames.get(flow) ?? null
  }
}
