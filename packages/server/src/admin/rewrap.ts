import { sealContext } from '@trunkline/core/app/broker-access/credentials'
import { webhookKeysContext } from '@trunkline/core/app/webhooks/keys-context'
import type { Clock } from '@trunkline/core/ports/clock'
import { CommitUnknown, type ConnectionStore, StoreUnavailable } from '@trunkline/core/ports/store'
import { SealBroken, type SealContext, type Vault } from '@trunkline/core/ports/vault'
import type { WebhookEndpointStore } from '@trunkline/core/ports/webhook-store'
import { sealedKeyId } from '../vault/envelope.ts'
import { NOTICE_MS } from '../vault/file-key-ring.ts'
import { AdminRefused, type Run, type Unreadable } from './operations.ts'

export interface RewrapDeps {
  readonly connections: Pick<ConnectionStore, 'sealedUnderOtherKeys' | 'rewrapped'>
  readonly endpoints: Pick<WebhookEndpointStore, 'sealedUnderOtherKeys' | 'rewrapped'>
  readonly vault: Vault
  readonly clock: Clock
}

/** A sealed value, wherever it is stored. */
interface SealedRow extends Omit<Unreadable, 'why'> {
  readonly sealed: Uint8Array
  readonly context: SealContext
  /** False if it was changed meanwhile. */
  replace(sealed: Uint8Array, keyId: string): Promise<boolean>
}

export interface Rewrapped {
  readonly rewrapped: number
  readonly unreadable: readonly Unreadable[]
}

const BATCH = 500
/** Concurrent writes: enough to share commits, few enough not to delay orders. */
const AT_ONCE = 4
/** Above this, a key is missing; damaged rows would be fewer. */
const UNREADABLE_MAX = 1_000
const TRIES_MAX = 50
const RETRY_MS = 200
/** Longer than another process may continue to seal with the old key. */
const SETTLE_MS = NOTICE_MS + 500

/**
 * Re-wraps everything that is sealed under another master key with the current one, while the service reads and writes. Ends after two
 * passes in a row that found nothing, far enough apart for every process to have noticed the current key. Can be interrupted and restarted
 * at any time.
 * @throws AdminRefused if so many credentials cannot be opened that a master key must be missing.
 */
export async function rewrapAll(deps: RewrapDeps, run: Pick<Run, 'signal' | 'progress'>): Promise<Rewrapped> {
  const walk = new RewrapWalk(deps, run)
  let cleanPasses = 0
  while (true) {
    cleanPasses = (await walk.pass()) === 0 ? cleanPasses + 1 : 0
    if (cleanPasses === 2) return walk.result()
    if (cleanPasses === 1) await deps.clock.sleep(SETTLE_MS, run.signal)
  }
}

/** Makes one pass. If it re-wraps anything, an earlier rotation was incomplete. */
export async function rewrapOnce(deps: RewrapDeps, run: Pick<Run, 'signal' | 'progress'>): Promise<Rewrapped> {
  const walk = new RewrapWalk(deps, run)
  await walk.pass()
  return walk.result()
}

class RewrapWalk {
  readonly #deps: RewrapDeps
  readonly #run: Pick<Run, 'signal' | 'progress'>
  readonly #unreadable = new Map<string, Unreadable>()
  #rewrapped = 0
  /** Values found under another key, swapped or not: a concurrent write may have been first, and may have moved the old bytes elsewhere. */
  #met = 0

  constructor(deps: RewrapDeps, run: Pick<Run, 'signal' | 'progress'>) {
    this.#deps = deps
    this.#run = run
  }

  result(): Rewrapped {
    return { rewrapped: this.#rewrapped, unreadable: [...this.#unreadable.values()] }
  }

  /** Repeats until a complete listing has nothing under another key. Returns how many values were found under other keys. */
  async pass(): Promise<number> {
    const before = this.#met
    while (true) {
      const { items, isAll } = await this.#next()
      const met = this.#met
      for (let at = 0; at < items.length; at += AT_ONCE) {
        this.#run.signal.throwIfAborted()
        await Promise.all(items.slice(at, at + AT_ONCE).map(item => this.#rewrap(item)))
      }
      // The list may also contain values that were written under the current key meanwhile, so it may never become empty.
      if (isAll && this.#met === met) return this.#met - before
      this.#run.progress({ rewrapped: this.#rewrapped })
    }
  }

  async #next(): Promise<{ readonly items: readonly SealedRow[]; readonly isAll: boolean }> {
    this.#run.signal.throwIfAborted()
    // Values that cannot be opened stay at the head of the list.
    const limit = BATCH + this.#unreadable.size
    const [ofLogins, ofEndpoints] = [await this.#logins(limit), await this.#endpoints(limit)]
    const isAll = ofLogins.length < limit && ofEndpoints.length < limit
    return { items: [...ofLogins, ...ofEndpoints].filter(item => !this.#unreadable.has(nameOf(item))), isAll }
  }

  async #logins(limit: number): Promise<readonly SealedRow[]> {
    const { connections, vault } = this.#deps
    const found = await this.#patiently(() => connections.sealedUnderOtherKeys(vault.currentKeyId, limit))
    return found.map(item => {
      const { place, connectionId: id, credentials } = item
      const context = sealContext(item, credentials.revision)
      return { place, id, sealed: credentials.sealed, context, replace: (bytes, keyId) => connections.rewrapped(item, bytes, keyId) }
    })
  }

  async #endpoints(limit: number): Promise<readonly SealedRow[]> {
    const { endpoints, vault } = this.#deps
    const found = await this.#patiently(() => endpoints.sealedUnderOtherKeys(vault.currentKeyId, limit))
    return found.map(known => {
      const { endpoint, keys } = known
      const context = webhookKeysContext(endpoint, keys.revision)
      const replace = (bytes: Uint8Array, keyId: string) => endpoints.rewrapped(known, bytes, keyId)
      return { place: 'webhook_endpoint', id: endpoint.endpointId, sealed: keys.sealed, context, replace }
    })
  }

  async #rewrap(item: SealedRow): Promise<void> {
    const { vault } = this.#deps
    try {
      const sealed = vault.rewrap(item.sealed, item.context)
      const bytes = sealed ?? item.sealed
      // Stored under the key that the bytes name, which may already be newer than the requested one.
      const swapped = await this.#patiently(() => item.replace(bytes, sealedKeyId(bytes)))
      if (sealed !== null) this.#met += 1
      if (sealed !== null && swapped) this.#rewrapped += 1
    } catch (cause) {
      if (!(cause instanceof SealBroken)) throw cause
      this.#unreadable.set(nameOf(item), { place: item.place, id: item.id, why: cause.message })
      if (this.#unreadable.size > UNREADABLE_MAX)
        throw new AdminRefused(
          `More than ${UNREADABLE_MAX} stored credentials cannot be opened (the last: ${cause.message}). A master key is missing: restore it and run this again.`
        )
    }
  }

  /** Retries if the store is unavailable or the commit's outcome is unknown. A repeated swap changes nothing. */
  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work()
      } catch (cause) {
        const passes = cause instanceof StoreUnavailable || cause instanceof CommitUnknown
        if (!passes || tries === TRIES_MAX) throw cause
        await this.#deps.clock.sleep(RETRY_MS, this.#run.signal)
      }
    }
  }
}

function nameOf({ place, id, context }: SealedRow): string {
  return `${place} ${id} ${context.revision}`
}
