import type { BrokerEndpoint } from '../../domain/account.ts'
import type { ConnectionId, UserKey } from '../../domain/ids.ts'
import { epochMs, timestampOfMs } from '../../domain/timestamp.ts'
import { BrokerFault, type Credentials, type CredentialsHolder, type CredentialsRefresh } from '../../ports/broker.ts'
import type { SealedValue } from '../../ports/store.ts'
import { SealBroken, type SealContext, SealKeyMissing, type Vault } from '../../ports/vault.ts'
import type { Deps } from '../deps.ts'
import { limited } from '../limited.ts'
import { EndpointChanged, isSameEndpoint } from './endpoints.ts'

/** The owner of a seal: whose credentials they are. */
interface SealOwner {
  readonly connectionId: ConnectionId
  readonly userKey: UserKey
}

/**
 * Seals a login's credentials for their owner, together with the endpoint they were made at: a database that says otherwise beside them does
 * not make them good for another.
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
 * The credentials, for use at `present`. The one way to them, so that none is sent to an endpoint that it was not made at.
 * @throws SealBroken, EndpointChanged
 */
export function openCredentials(vault: Vault, owner: SealOwner, value: SealedValue, present: BrokerEndpoint): Credentials {
  const { credentials, endpoint } = unsealed(vault, owner, value)
  if (endpoint === null || !isSameEndpoint(endpoint, present)) throw new EndpointChanged(endpoint, present)
  return credentials
}

/**
 * The same credentials sealed with `endpoint`, at the same revision; null when they are already sealed with one. For those that were sealed
 * before endpoints were recorded. @throws SealBroken
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
  // Before endpoints were recorded the document was the credentials, all of whose values are texts.
  if (typeof document.credentials !== 'object') return { credentials: document, endpoint: null }
  const { credentials, environment, host } = document
  return { credentials, endpoint: { environment, host } }
}

export function sealContext({ connectionId, userKey }: SealOwner, revision: number): SealContext {
  return { table: 'connections', column: 'credentials', rowId: connectionId, ownerId: userKey, revision }
}

type CredentialsDeps = Pick<Deps, 'store' | 'vault' | 'clock' | 'ids'>

/** For one refresh at the broker, its repetition after a lost answer included. */
const REFRESH_MS = 15_000
/** Longer than a refresh and the write after it, even on a node that is short of breath; then another node may. */
const CLAIM_MS = 30_000
const LOOK_AGAIN_MS = 250

/**
 * One connection's credentials: read once, kept open in memory, renewed by one caller of one node at a time, and written before anyone uses
 * them. What a broker gave and the store would not take is kept until it does: the old token may be worth nothing by then.
 *
 * A broker that rotates its refresh tokens takes each of them once, or for a short time again. So the right to refresh is claimed in the store
 * for a bounded time; who does not get it waits for what the winner writes. A refresh whose answer was lost, on whichever node, is
 * remembered beside the claim until there are new credentials: a later refusal may then be of our own making, and the adapter is informed.
 */
export class StoredCredentials implements CredentialsHolder {
  readonly #deps: CredentialsDeps
  readonly #owner: SealOwner
  readonly #endpoint: BrokerEndpoint
  readonly #holder: string
  #current: { readonly credentials: Credentials; readonly revision: number } | null = null
  #reading: Promise<Credentials> | null = null
  #renewing: Promise<Credentials> | null = null
  #unsaved: { readonly credentials: Credentials; readonly over: number } | null = null
  /** Revision of which this process knows that a refresh was begun and not answered; the store may not know of it. */
  #unanswered = 0

  /** @param endpoint where they will be used */
  constructor(deps: CredentialsDeps, owner: SealOwner, endpoint: BrokerEndpoint) {
    this.#deps = deps
    this.#owner = owner
    this.#endpoint = endpoint
    this.#holder = deps.ids.uuid()
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
    // The caller's signal ends the wait for the right to refresh, but not the refresh: a rotated token must reach the store, whichever caller gave up.
    this.#renewing ??= this.#renew(current, refresh, signal).finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  async #renew(current: Credentials, refresh: CredentialsRefresh, signal: AbortSignal): Promise<Credentials> {
    const revision = this.#current?.revision ?? 0
    // Another node may have refreshed since we read; its token is the one the broker honours now.
    if (this.#unsaved?.over !== revision) {
      const mayBeSpent = await this.#claimed(revision, signal)
      if (mayBeSpent !== null) {
        try {
          await this.#refresh(current, revision, { refresh, mayBeSpent })
        } catch (fault) {
          // A renewal of the login may have come in between: then it was the old credentials that were refused.
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

  /** Waits for the right to refresh; null when there are other credentials. Gives whether these may be spent. @throws BrokerFault */
  async #claimed(revision: number, signal: AbortSignal): Promise<boolean | null> {
    const { store, clock } = this.#deps
    // Another clock may be ahead of ours, and what it claimed then lasts longer by ours.
    const giveUpAtMs = clock.monotonicMs() + 2 * CLAIM_MS
    for (;;) {
      const atMs = epochMs(clock.now())
      const claim = { revision, holder: this.#holder, at: timestampOfMs(atMs), until: timestampOfMs(atMs + CLAIM_MS) }
      const claimed = await store.connections.claimRefresh(this.#owner.connectionId, claim)
      if (claimed.kind === 'taken') return claimed.mayBeSpent || this.#unanswered === revision
      if (claimed.kind === 'moved') return null
      if (clock.monotonicMs() >= giveUpAtMs)
        throw new BrokerFault('unreachable', 'another node has been refreshing the credentials for too long')
      await clock.sleep(LOOK_AGAIN_MS, signal).catch((cause: unknown) => {
        throw new BrokerFault('unreachable', 'given up while another node was refreshing the credentials', { cause })
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
      // Best effort: a claim that stays ends by itself, and counts as unanswered.
      await this.#deps.store.connections.releaseRefresh(this.#owner.connectionId, claim, isUncertain).catch(() => undefined)
      throw fault
    }
  }

  /** Another node's. What was obtained over an older revision is worth nothing any more. */
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

/** They cannot be repaired: what is stored was changed, exchanged or put back. */
const UNREADABLE = 'The stored login does not fit its place any more, and was not used. Have the user connect again.'

/** Whether a refresh that failed was answered, or never reached the broker at all, so that it spent nothing. */
function isAnswer(fault: unknown): boolean {
  return (
    fault instanceof BrokerFault && (fault.kind === 'credentials_rejected' || fault.kind === 'refused' || fault.kind === 'rate_limited')
  )
}
