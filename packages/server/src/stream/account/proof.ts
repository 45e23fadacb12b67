import {
  type AttemptLimits,
  authenticatePlatform,
  type CredentialLookup,
  demandScope,
  type ProvenPlatform,
  stillProven
} from '@trunkline/core/app/authenticate'
import type { KeyId } from '@trunkline/core/domain/ids'
import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { Hasher } from '@trunkline/core/ports/vault'

export interface ProofDeps {
  readonly lookup: CredentialLookup
  /** What failed attempts may cost, over all sessions. */
  readonly attempts: AttemptLimits
  readonly hasher: Hasher
  readonly clock: Clock
  readonly log: Log
}

/** What a key must be allowed to follow users. */
const SCOPE = 'read'
/** Timers are shorter than keys live, and clocks are set: looked at again this often. */
const STEP_MS = 60_000

/** The key that a session showed, and for how long it holds. */
export class Proof {
  readonly #deps: ProofDeps
  readonly #address: string
  readonly #over: (reason: string) => void
  #proven: ProvenPlatform | null = null
  /** Rings when the key ends by itself. */
  #lifetime: Disposable | null = null
  #isOver = false

  /** @param over called when what was proved does not hold any more */
  constructor(deps: ProofDeps, address: string, over: (reason: string) => void) {
    this.#deps = deps
    this.#address = address
    this.#over = over
  }

  get keyId(): KeyId | null {
    return this.#proven?.key.keyId ?? null
  }

  /** @throws ServiceError credentials_invalid, scope_missing; rate_limited, with nothing looked up or after one failure too many. */
  async of(clientId: string, clientSecret: string): Promise<ProvenPlatform> {
    const { lookup, attempts } = this.#deps
    const proven = await authenticatePlatform(this.#deps, lookup, { clientId, clientSecret, address: this.#address }, attempts)
    demandScope(proven.key, SCOPE)
    return proven
  }

  /** The session stands on this from now on. */
  hold(proven: ProvenPlatform): void {
    this.#proven = proven
    this.#endWith(proven.endsAt)
  }

  /** A secret of the platform was replaced: ends the session unless what it showed is still good. */
  async recheck(): Promise<void> {
    const proven = this.#proven
    if (proven === null || this.#isOver) return
    const { lookup, clock, log } = this.#deps
    try {
      const held = stillProven(await lookup.platform(proven.key.clientId), proven, clock.now())
      if (held === null) this.#over('the client secret was replaced')
      else this.#endWith(held.endsAt)
    } catch (cause) {
      log.warn('a session ends: whether its client secret is still good could not be read', { cause })
      this.#over('the client secret was replaced')
    }
  }

  stop(): void {
    this.#isOver = true
    this.#lifetime?.[Symbol.dispose]()
  }

  #endWith(endsAt: Timestamp | null): void {
    this.#lifetime?.[Symbol.dispose]()
    this.#lifetime = null
    if (endsAt === null || this.#isOver) return
    const { clock } = this.#deps
    const leftMs = epochMs(endsAt) - epochMs(clock.now())
    if (leftMs <= 0) this.#over('the client secret has ended')
    else this.#lifetime = clock.alarm(Math.min(leftMs, STEP_MS), () => this.#endWith(endsAt))
  }
}
