/** Access to the demo platform's secrets in a browser: for a while, with the code that only its owner can read. */
import { hash, timingSafeEqual } from 'node:crypto'

/** A session ends so long after it was last used, and in any case after the second. */
const IDLE_MS = 2 * 3_600_000
const LIFE_MS = 12 * 3_600_000
/** Browsers of one user; the one that was idle longest goes first. */
const SESSIONS_MAX = 8
/** Tries at once, and one more with every so many milliseconds. What is tried has 256 random bits. */
const TRIES_MAX = 10
const TRY_MS = 1_000

interface Session {
  readonly digest: Buffer
  readonly madeAt: number
  usedAt: number
}

export interface AccessDeps {
  readonly monotonicMs: () => number
  readonly newSecret: () => string
  /** The code that is good from now on. What it throws leaves the code good for this run all the same. */
  readonly changed: (code: string) => void
}

export type Redeemed =
  | { readonly session: string }
  | { readonly refused: 'wrong' }
  | { readonly refused: 'too_many'; readonly retryMs: number }

/** One code at a time, good once; sessions in memory, few and short. Nothing of it outlives the process. */
export class FirstPageAccess {
  readonly #deps: AccessDeps
  #code: string
  #sessions: Session[] = []
  #tries = TRIES_MAX
  #triedAt = 0

  constructor(deps: AccessDeps) {
    this.#deps = deps
    this.#code = deps.newSecret()
  }

  /** The code that is good now. */
  get code(): string {
    return this.#code
  }

  /** Exchanges the code for a session, once. */
  redeem(code: string): Redeemed {
    const now = this.#deps.monotonicMs()
    this.#tries = Math.min(TRIES_MAX, this.#tries + (now - this.#triedAt) / TRY_MS)
    this.#triedAt = now
    if (this.#tries < 1) return { refused: 'too_many', retryMs: Math.ceil((1 - this.#tries) * TRY_MS) }
    this.#tries -= 1
    if (!timingSafeEqual(digestOf(code), digestOf(this.#code))) return { refused: 'wrong' }
    this.#code = this.#deps.newSecret()
    this.#deps.changed(this.#code)
    const session = this.#deps.newSecret()
    this.#sessions = [...this.#alive(now), { digest: digestOf(session), madeAt: now, usedAt: now }]
      .toSorted((a, b) => b.usedAt - a.usedAt)
      .slice(0, SESSIONS_MAX)
    return { session }
  }

  /** Whether that is a session, which then goes on. */
  admits(session: string | undefined): boolean {
    const now = this.#deps.monotonicMs()
    this.#sessions = [...this.#alive(now)]
    if (session === undefined) return false
    const digest = digestOf(session)
    const found = this.#sessions.find(known => timingSafeEqual(known.digest, digest))
    if (found !== undefined) found.usedAt = now
    return found !== undefined
  }

  #alive(now: number): readonly Session[] {
    return this.#sessions.filter(({ madeAt, usedAt }) => now - usedAt < IDLE_MS && now - madeAt < LIFE_MS)
  }
}

/** Of one length, so that comparing takes the same time whatever was brought. */
function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
