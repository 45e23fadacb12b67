/** Streaming sessions: created over REST, used by one stream, and only the newest of a customer is valid. */

import type { Pass } from '../../frame/brokerage.ts'

export interface Session {
  readonly id: string
  readonly pass: Pass
  /** Real time in milliseconds: until then a stream must have begun with it. */
  readonly expiresAt: number
}

const WINDOW_MS = 5 * 60_000

export class Sessions {
  readonly #now: () => number
  readonly #newId: () => string
  /** By login: one each. */
  readonly #sessions = new Map<string, Session>()

  /** `now` is real time in milliseconds. */
  constructor(now: () => number, newId: () => string) {
    this.#now = now
    this.#newId = newId
  }

  /** Whatever session the customer had before is over. */
  create(pass: Pass): Session {
    const session = { id: this.#newId(), pass, expiresAt: this.#now() + WINDOW_MS }
    this.#sessions.set(pass.login, session)
    return session
  }

  /** The session, once. */
  take(id: string): Session | null {
    const session = [...this.#sessions.values()].find(candidate => candidate.id === id)
    if (session === undefined || session.expiresAt <= this.#now() || session.pass.expiresAt <= this.#now()) return null
    this.#sessions.delete(session.pass.login)
    return session
  }

  clear(): void {
    this.#sessions.clear()
  }
}
