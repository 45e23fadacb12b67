import type { ConnectionId, UserKey } from '../../domain/ids.ts'
import { BrokerFault, type Credentials, type CredentialsHolder } from '../../ports/broker.ts'
import type { SealedValue } from '../../ports/store.ts'
import { SealBroken, type SealContext, type Vault } from '../../ports/vault.ts'
import type { Deps } from '../deps.ts'
import { limited } from '../limited.ts'

/** Seals a login's credentials into their place. */
export function sealCredentials(
  vault: Vault,
  place: { readonly connectionId: ConnectionId; readonly userKey: UserKey },
  credentials: Credentials,
  revision: number
): SealedValue {
  return { sealed: vault.seal(JSON.stringify(credentials), sealContext(place, revision)), revision }
}

/** @throws SealBroken */
export function openCredentials(
  vault: Vault,
  place: { readonly connectionId: ConnectionId; readonly userKey: UserKey },
  value: SealedValue
): Credentials {
  return JSON.parse(vault.open(value.sealed, sealContext(place, value.revision)))
}

export function sealContext(
  { connectionId, userKey }: { readonly connectionId: ConnectionId; readonly userKey: UserKey },
  revision: number
): SealContext {
  return { table: 'connections', column: 'credentials', rowId: connectionId, ownerId: userKey, revision }
}

/**
 * One connection's credentials: read once, kept open in memory, renewed single-flight and written before anyone uses them. What a broker gave
 * and the store would not take is kept until it does: the old token may be worth nothing by then.
 */
export class StoredCredentials implements CredentialsHolder {
  readonly #deps: Pick<Deps, 'store' | 'vault' | 'clock'>
  readonly #place: { readonly connectionId: ConnectionId; readonly userKey: UserKey }
  #current: { readonly credentials: Credentials; readonly revision: number } | null = null
  #reading: Promise<Credentials> | null = null
  #renewing: Promise<Credentials> | null = null
  #unsaved: { readonly credentials: Credentials; readonly over: number } | null = null

  constructor(deps: Pick<Deps, 'store' | 'vault' | 'clock'>, place: { readonly connectionId: ConnectionId; readonly userKey: UserKey }) {
    this.#deps = deps
    this.#place = place
  }

  async read(_signal: AbortSignal): Promise<Credentials> {
    if (this.#current !== null) return this.#current.credentials
    this.#reading ??= this.#load().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async renew(
    used: Credentials,
    refresh: (current: Credentials, signal: AbortSignal) => Promise<Credentials>,
    signal: AbortSignal
  ): Promise<Credentials> {
    const current = await this.read(signal)
    if (current !== used) return current
    // Not the caller's signal: others wait for this very refresh, and a rotated token must reach the store whoever gave up.
    this.#renewing ??= this.#renew(current, refresh).finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  async #renew(current: Credentials, refresh: (current: Credentials, signal: AbortSignal) => Promise<Credentials>): Promise<Credentials> {
    const before = this.#current?.revision ?? 0
    // Another node may have refreshed since we read; its token is the one the broker honours now.
    const stored = await this.#load()
    if ((this.#current?.revision ?? 0) !== before) {
      this.#unsaved = null
      return stored
    }
    if (this.#unsaved?.over !== before) {
      const credentials = await limited(this.#deps.clock, REFRESH_MS, signal => refresh(current, signal))
      this.#unsaved = { credentials, over: before }
    }
    const next = this.#unsaved.credentials
    const value = sealCredentials(this.#deps.vault, this.#place, next, before + 1)
    const isNewest = await this.#deps.store.connections.replaceCredentials(this.#place.connectionId, before, value)
    this.#unsaved = null
    if (!isNewest) return this.#load()
    this.#current = { credentials: next, revision: before + 1 }
    return next
  }

  async #load(): Promise<Credentials> {
    const value = await this.#deps.store.connections.credentials(this.#place.connectionId)
    if (value === null) throw new BrokerFault('refused', 'the connection was deleted, and its credentials with it')
    if (this.#current?.revision === value.revision) return this.#current.credentials
    try {
      const credentials = openCredentials(this.#deps.vault, this.#place, value)
      this.#current = { credentials, revision: value.revision }
      return credentials
    } catch (cause) {
      if (cause instanceof SealBroken) throw new BrokerFault('refused', 'the stored credentials cannot be opened', { cause })
      throw cause
    }
  }
}

const REFRESH_MS = 15_000
