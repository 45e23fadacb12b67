import type { BrokerEndpoint } from '../../domain/account.ts'
import type { ConnectionId, UserKey } from '../../domain/ids.ts'
import { epochMs, timestampOfMs } from '../../domain/timestamp.ts'
import { BrokerFault, type Credentials, type CredentialsHolder, type CredentialsRefresh } from '../../ports/broker.ts'
import type { SealedValue } from '../../ports/store.ts'
import { SealBroken, type SealContext, SealKeyMissing, type Vault } from '../../ports/vault.ts'
import type { Deps } from '../deps.ts'
import { mayFinish } from '../owned-users.ts'
import { limited } from '../time-limits.ts'
import { EndpointChanged, isSameEndpoint } from './endpoints.ts'

/** The owner of sealed credentials. */
interface SealOwner {
  readonly connectionId: ConnectionId
  readonly userKey: UserKey
}

/**
 * Seals a login's credentials for their owner, together with their endpoint: changing the endpoint in the database does not make them
 * usable elsewhere.
 */
export function sealCredentials(
  vault: Vault,
  owner: SealOwner,
  { credentials, endpoint: { environment, host } }: { readonly credentials: Credentials; readonly endpoint: BrokerEndpoint },
  revision: number
): SealedValue {
  return { sealed: vault.seal(JSON.stringify({ environment, host, credentials }), sealContext(owner, revision)), revision }
}

/**
 * Opens credentials for use at `present`. All credentials are opened here, so that none is sent to an endpoint that it was not made for.
 * @throws SealBroken, EndpointChanged
 */
export function openCredentials(vault: Vault, owner: SealOwner, value: SealedValue, present: BrokerEndpoint): Credentials {
  const { credentials, endpoint } = unsealed(vault, owner, value)
  if (endpoint === null || !isSameEndpoint(endpoint, present)) throw new EndpointChanged(endpoint, present)
  return credentials
}

/**
 * Reseals credentials with `endpoint`, at the same revision; null if they are already sealed with one. For credentials sealed before
 * endpoints were recorded. @throws SealBroken
 */
export function withEndpoint(vault: Vault, owner: SealOwner, value: SealedValue, endpoint: BrokerEndpoint): SealedValue | null {
  const known = unsealed(vault, owner, value)
  return known.endpoint === null ? sealCredentials(vault, owner, { credentials: known.credentials, endpoint }, value.revision) : null
}

function unsealed(
  vault: Vault,
  owner: SealOwner,
  value: SealedValue
): { readonly credentials: Credentials; readonly endpoint: BrokerEndpoint | null } {
  const document = JSON.parse(vault.open(value.sealed, sealContext(owner, value.revision)))
  // Before endpoints were recorded, the document was the credentials, whose values are all texts.
  if (typeof document.credentials !== 'object') return { credentials: document, endpoint: null }
  const { credentials, environment, host } = document
  return { credentials, endpoint: { environment, host } }
}

export function sealContext({ connectionId, userKey }: SealOwner, revision: number): SealContext {
  return { table: 'connections', column: 'credentials', rowId: connectionId, ownerId: userKey, revision }
}

type CredentialsDeps = Pick<Deps, 'store' | 'vault' | 'clock' | 'ids' | 'ownership'>

/** Time limit of one refresh at the broker, including a retry after a lost answer. */
const REFRESH_MS = 15_000
/** Longer than a refresh and the write after it, even on a slow node. After that, another node may refresh. */
const CLAIM_MS = 30_000
const LOOK_AGAIN_MS = 250

/**
 * One connection's credentials: read once, cached in memory, refreshed by one caller on one node at a time, and stored before they are
 * used. New credentials that the store does not accept are retained until it does, because the old token may be invalid by then.
 *
 * A broker that rotates its refresh tokens accepts each once, or repeatedly for a short time. The right to refresh is therefore claimed in
 * the store for a limited time; other callers wait for the credentials that the claimant stores. A refresh without an answer, on any node,
 * is recorded with the claim until there are new credentials: a later rejection may be caused by it, and the adapter is informed
 * (`mayBeSpent`).
 */
export class StoredCredentials implements CredentialsHolder {
  readonly #deps: CredentialsDeps
  readonly #owner: SealOwner
  readonly #endpoint: BrokerEndpoint
  readonly #holder: string
  /** Under which the login may command. */
  readonly #fence: number | null
  #current: { readonly credentials: Credentials; readonly revision: number } | null = null
  #reading: Promise<Credentials> | null = null
  #renewing: Promise<Credentials> | null = null
  #unsaved: { readonly credentials: Credentials; readonly over: number } | null = null
  /** The revision for which this process knows of an unanswered refresh; the store may not know it. */
  #unanswered = 0

  /** @param endpoint where they will be used */
  constructor(deps: CredentialsDeps, owner: SealOwner, endpoint: BrokerEndpoint) {
    this.#deps = deps
    this.#owner = owner
    this.#endpoint = endpoint
    this.#holder = deps.ids.uuid()
    this.#fence = deps.ownership.fenceOf(owner.userKey)
  }

  mayCommand(): boolean {
    return mayFinish(this.#deps.ownership, this.#owner.userKey, this.#fence)
  }

  async read(_signal: AbortSignal): Promise<Credentials> {
    if (this.#current !== null) return this.#current.credentials
    this.#reading ??= this.#load().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async renew(used: Credentials, refresh: CredentialsRefresh, signal: AbortSignal): Promise<Credentials> {
    const current = await this.read(signal)
    if (current !== used) return current
    // The caller's signal ends its wait for the claim, but not the refresh: a rotated token must be stored even if the caller gave up.
    this.#renewing ??= this.#renew(current, refresh, signal).finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  async #renew(current: Credentials, refresh: CredentialsRefresh, signal: AbortSignal): Promise<Credentials> {
    const revision = this.#current?.revision ?? 0
    // Another node may have refreshed since the read; only its token is valid now.
    if (this.#unsaved?.over !== revision) {
      const mayBeSpent = await this.#claimed(revision, signal)
      if (mayBeSpent !== null) {
        try {
          await this.#refresh(current, revision, { refresh, mayBeSpent })
        } catch (fault) {
          // The login may have been renewed meanwhile: then the old credentials were rejected.
          if (!(await this.#isOvertaken(revision))) throw fault
        }
      }
    }
    if (this.#unsaved?.over !== revision) return await this.#newest()
    const next = this.#unsaved.credentials
    const value = sealCredentials(this.#deps.vault, this.#owner, { credentials: next, endpoint: this.#endpoint }, revision + 1)
    const isNewest = await this.#deps.store.connections.replaceCredentials(this.#owner.connectionId, revision, value)
    if (!isNewest) return await this.#newest()
    this.#unsaved = null
    this.#current = { credentials: next, revision: revision + 1 }
    return next
  }

  async #isOvertaken(revision: number): Promise<boolean> {
    const value = await this.#deps.store.connections.credentials(this.#owner.connectionId).catch(() => null)
    return value !== null && value.revision !== revision
  }

  /** Waits for the claim; null if there are other credentials by then. Otherwise returns whether these may be spent. @throws BrokerFault */
  async #claimed(revision: number, signal: AbortSignal): Promise<boolean | null> {
    const { store, clock } = this.#deps
    // Another node's clock may be ahead, so that its claim lasts longer by our clock.
    const giveUpAtMs = clock.monotonicMs() + 2 * CLAIM_MS
    for (;;) {
      const atMs = epochMs(clock.now())
      const claim = { revision, holder: this.#holder, at: timestampOfMs(atMs), until: timestampOfMs(atMs + CLAIM_MS) }
      const claimed = await store.connections.claimRefresh(this.#owner.connectionId, claim)
      if (claimed.kind === 'taken') return claimed.mayBeSpent || this.#unanswered === revision
      if (claimed.kind === 'moved') return null
      if (clock.monotonicMs() >= giveUpAtMs)
        throw new BrokerFault('unreachable', 'another node is taking too long to refresh the credentials')
      await clock.sleep(LOOK_AGAIN_MS, signal).catch((cause: unknown) => {
        throw new BrokerFault('unreachable', 'aborted while another node was refreshing the credentials', { cause })
      })
    }
  }

  async #refresh(
    current: Credentials,
    revision: number,
    { refresh, mayBeSpent }: { readonly refresh: CredentialsRefresh; readonly mayBeSpent: boolean }
  ): Promise<void> {
    try {
      const credentials = await limited(this.#deps.clock, REFRESH_MS, signal => refresh(current, signal, mayBeSpent))
      this.#unsaved = { credentials, over: revision }
    } catch (fault) {
      const isUncertain = mayBeSpent || !isAnswer(fault)
      this.#unanswered = isUncertain ? revision : 0
      const claim = { revision, holder: this.#holder }
      // Best effort: a claim that is not released expires and counts as unanswered.
      await this.#deps.store.connections.releaseRefresh(this.#owner.connectionId, claim, isUncertain).catch(() => undefined)
      throw fault
    }
  }

  /** Another node's credentials. Credentials obtained for an older revision are no longer valid. */
  #newest(): Promise<Credentials> {
    this.#unsaved = null
    return this.#load()
  }

  async #load(): Promise<Credentials> {
    const value = await this.#deps.store.connections.credentials(this.#owner.connectionId)
    if (value === null) throw new BrokerFault('refused', 'the connection was deleted, and its credentials with it')
    if (this.#current?.revision === value.revision) return this.#current.credentials
    try {
      const credentials = openCredentials(this.#deps.vault, this.#owner, value, this.#endpoint)
      this.#current = { credentials, revision: value.revision }
      return credentials
    } catch (cause) {
      if (cause instanceof SealKeyMissing) throw new BrokerFault('refused', 'the stored credentials cannot be opened', { cause })
      if (cause instanceof SealBroken) throw new BrokerFault('credentials_rejected', UNREADABLE, { cause })
      if (cause instanceof EndpointChanged) throw new BrokerFault('refused', cause.message, { cause })
      throw cause
    }
  }
}

/** Not repairable: the stored credentials were altered, exchanged or rolled back. */
const UNREADABLE = 'The stored login was altered or moved, and was not used. Have the user connect again.'

/** Whether a failed refresh was answered, or never reached the broker, so that it spent nothing. */
function isAnswer(fault: unknown): boolean {
  return (
    fault instanceof BrokerFault && (fault.kind === 'credentials_rejected' || fault.kind === 'refused' || fault.kind === 'rate_limited')
  )
}
