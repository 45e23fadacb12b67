import { sealContext } from '@trunkline/core/app/broker-access/credentials'
import type { Clock } from '@trunkline/core/ports/clock'
import { CommitUnknown, type ConnectionStore, type RewrapItem, StoreUnavailable } from '@trunkline/core/ports/store'
import { SealBroken, type Vault } from '@trunkline/core/ports/vault'
import { sealedKeyId } from '../vault/envelope.ts'
import { NOTICE_MS } from '../vault/file-key-ring.ts'
import { AdminRefused, type Run, type Unreadable } from './operations.ts'

export interface RewrapDeps {
  readonly connections: Pick<ConnectionStore, 'sealedUnderOtherKeys' | 'rewrapped'>
  readonly vault: Vault
  readonly clock: Clock
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

  async #next(): Promise<{ readonly items: readonly RewrapItem[]; readonly isAll: boolean }> {
    this.#run.signal.throwIfAborted()
    const { connections, vault } = this.#deps
    // Values that cannot be opened stay at the head of the list.
    const limit = BATCH + this.#unreadable.size
    const found = await this.#patiently(() => connections.sealedUnderOtherKeys(vault.currentKeyId, limit))
    return { items: found.filter(item => !this.#unreadable.has(nameOf(item))), isAll: found.length < limit }
  }

  async #rewrap(item: RewrapItem): Promise<void> {
    const { connections, vault } = this.#deps
    try {
      const sealed = vault.rewrap(item.credentials.sealed, sealContext(item, item.credentials.revision))
      const bytes = sealed ?? item.credentials.sealed
      // Stored under the key that the bytes name, which may already be newer than the requested one.
      const swapped = await this.#patiently(() => connections.rewrapped(item, bytes, sealedKeyId(bytes)))
      if (sealed !== null) this.#met += 1
      if (sealed !== null && swapped) this.#rewrapped += 1
    } catch (cause) {
      if (!(cause instanceof SealBroken)) throw cause
      this.#unreadable.set(nameOf(item), { place: item.place, connectionId: item.connectionId, why: cause.message })
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

function nameOf({ place, connectionId, credentials }: RewrapItem): string {
  return `${place} ${connectionId} ${credentials.revision}`
}
