import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { KnownToken, TokenStore } from '@trunkline/core/ports/store'

/** How often the tokens of sessions are compared with the stored ones. What ends on one node has two seconds on the others. */
const CHECK_MS = 1_500
const CHECKED_AT_ONCE = 1_000

interface TokenChecksDeps {
  readonly tokens: Pick<TokenStore, 'findAll'>
  readonly clock: Clock
  readonly log: Log
}

/**
 * Compares the tokens of sessions with the store at intervals: in a cluster a user, key or platform may be disabled, or a secret replaced,
 * without a message of it.
 */
export class TokenChecks<Session> {
  readonly #deps: TokenChecksDeps
  readonly #sessionsOf: () => ReadonlyMap<string, readonly Session[]>
  readonly #compare: (session: Session, token: KnownToken | null) => void
  readonly #stopping = new AbortController()

  /**
   * @param sessionsOf the sessions of each token, by its hash
   * @param compare called with each session and its token; null: it is no longer valid
   */
  constructor(
    deps: TokenChecksDeps,
    sessionsOf: () => ReadonlyMap<string, readonly Session[]>,
    compare: (session: Session, token: KnownToken | null) => void
  ) {
    this.#deps = deps
    this.#sessionsOf = sessionsOf
    this.#compare = compare
    void this.#run()
  }

  stop(): void {
    this.#stopping.abort()
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await clock.sleep(CHECK_MS, signal).catch(() => undefined)
      // Sessions stay while the store does not answer: nothing says that their tokens have ended.
      if (!signal.aborted) await this.#check().catch(cause => log.warn('the tokens of market data sessions could not be read', { cause }))
    }
  }

  async #check(): Promise<void> {
    const all = [...this.#sessionsOf()]
    for (let from = 0; from < all.length && !this.#stopping.signal.aborted; from += CHECKED_AT_ONCE) {
      const some = all.slice(from, from + CHECKED_AT_ONCE)
      const found = await this.#deps.tokens.findAll(some.map(([tokenHash]) => tokenHash))
      for (const [tokenHash, sessions] of some) for (const session of sessions) this.#compare(session, found.get(tokenHash) ?? null)
    }
  }
}
