/** Login flows remembered; for older ones the login page no longer shows the failed attempt. */
const USERNAMES_MAX = 1_000

/** The username last entered with a wrong password, per login flow, for the next display of the login page. */
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

  /** Null: no wrong password was entered. */
  of(flow: string): string | null {
    return this.#usernames.get(flow) ?? null
  }
}
