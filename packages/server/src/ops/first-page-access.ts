/** Access to the demo platform's secrets in a browser, for a limited time, with a code that only its owner can read. */
import { hash, timingSafeEqual } from 'node:crypto'

/** A session ends this long after its last use, and in any case after the second time. */
const IDLE_MS = 2 * 3_600_000
const LIFE_MS = 12 * 3_600_000
/** Sessions at once; the one that was idle longest is dropped first. */
const SESSIONS_MAX = 8
/** Tries at once, and one more after each number of milliseconds. A code has 256 random bits. */
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
  /** Called with the new valid code. If it throws, the code stays valid for this run. */
  readonly changed: (code: string) => void
}

export type Redeemed =
  | { readonly session: string }
  | { readonly refused: 'wrong' }
  | { readonly refused: 'too_many'; readonly retryMs: number }

/** One valid code at a time, usable once; few and short sessions in memory. Nothing outlives the process. */
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

  /** The valid code. */
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

  /** Whether this is a session; using it extends it. */
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

/** Hashes have one length, so that comparing them takes constant time. */
function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
