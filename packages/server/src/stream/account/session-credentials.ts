import {
  type AttemptLimits,
  authenticatePlatform,
  type CredentialLookup,
  demandScope,
  type ProvenPlatform,
  stillProven
} from '@trunkline/core/app/authenticate'
import type { KeyId } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { KnownKey } from '@trunkline/core/ports/store'
import type { Hasher } from '@trunkline/core/ports/vault'
import { ExpiryTimer } from '../expiry-timer.ts'

export interface SessionCredentialsDeps {
  readonly lookup: CredentialLookup
  /** What failed attempts may cost, over all sessions. */
  readonly attempts: AttemptLimits
  readonly hasher: Hasher
  readonly clock: Clock
  readonly log: Log
}

/** The scope that a key needs to follow users. */
const SCOPE = 'read'

/** The key that a session authenticated with, and how long it is valid. */
export class SessionCredentials {
  readonly #deps: SessionCredentialsDeps
  readonly #address: string
  readonly #over: (reason: string) => void
  #proven: ProvenPlatform | null = null
  /** Expiry of the key, or of the secret that was used. */
  readonly #expiry: ExpiryTimer
  #rechecking = Promise.resolve()
  #isOver = false

  /** @param over called when the credentials are no longer valid */
  constructor(deps: SessionCredentialsDeps, address: string, over: (reason: string) => void) {
    this.#deps = deps
    this.#address = address
    this.#over = over
    this.#expiry = new ExpiryTimer(deps.clock, () => over('the client secret has ended'))
  }

  get clientId(): string | null {
    return this.#proven?.key.clientId ?? null
  }

  get keyId(): KeyId | null {
    return this.#proven?.key.keyId ?? null
  }

  /** @throws ServiceError credentials_invalid, scope_missing; rate_limited, without a look-up or after one failure too many */
  async of(clientId: string, clientSecret: string): Promise<ProvenPlatform> {
    const { lookup, attempts } = this.#deps
    const proven = await authenticatePlatform(this.#deps, lookup, { clientId, clientSecret, address: this.#address }, attempts)
    demandScope(proven.key, SCOPE)
    return proven
  }

  /** Ends the session when these credentials end. */
  hold(proven: ProvenPlatform): void {
    this.#proven = proven
    this.#expiry.endAt(proven.endsAt)
  }

  /** A secret of the platform was replaced: ends the session unless its credentials are still valid. */
  recheck(): Promise<void> {
    // Sequential, so that an earlier read is not taken for the newest.
    this.#rechecking = this.#rechecking.then(() => this.#recheck())
    return this.#rechecking
  }

  /** Ends the session unless its credentials are those of the stored key, or still valid beside them. Null: there is no such key. */
  compare(stored: KnownKey | null): void {
    if (this.#proven === null || this.#isOver) return
    const held = stillProven(stored, this.#proven, this.#deps.clock.now())
    if (held === null) this.#over('the client secret was replaced')
    else this.#expiry.endAt(held.endsAt)
  }

  async #recheck(): Promise<void> {
    const proven = this.#proven
    if (proven === null || this.#isOver) return
    const { lookup, log } = this.#deps
    try {
      this.compare(await lookup.platform(proven.key.clientId))
    } catch (cause) {
      log.warn('a session ends: whether its client secret is still good could not be read', { cause })
      this.#over('the client secret was replaced')
    }
  }

  stop(): void {
    this.#isOver = true
    this.#expiry.stop()
  }
}
