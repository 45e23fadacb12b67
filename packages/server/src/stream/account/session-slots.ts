import type { PlatformKey } from '@trunkline/core/domain/platform-key'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { StreamSlot, StreamSlotStore } from '@trunkline/core/ports/store'

/** Sessions of one key (a pair of client id and client secret) at the same time, over all nodes. */
export const SESSIONS_MAX = 10
const TTL_MS = 15_000
const RENEW_MS = 5_000
const RELEASE_TRIES = 3
/** A client may notice the end of its session before we do: a new session waits this long for its slot before it is refused. */
const FREEING_MS = [20, 100]

/** The key that holds the slots. */
export type Owner = Pick<PlatformKey, 'platformId' | 'keyId'>

/** The session slots that this node holds for the keys of clients. The slots of a node that dies expire within seconds. */
export class AccountSessionSlots {
  readonly #deps: { readonly slots: StreamSlotStore; readonly clock: Clock; readonly log: Log }
  readonly #nodeId: string
  readonly #limit: number
  readonly #stopping = new AbortController()
  readonly #releasing = new Set<Promise<void>>()
  readonly #renewing: Promise<void>
  readonly #held = new Map<string, Owner>()
  /** Sessions whose slot is being taken or released right now. */
  readonly #undecided = new Set<string>()

  constructor(
    deps: { readonly slots: StreamSlotStore; readonly clock: Clock; readonly log: Log },
    { nodeId, limit = SESSIONS_MAX }: { readonly nodeId: string; readonly limit?: number }
  ) {
    this.#deps = deps
    this.#nodeId = nodeId
    this.#limit = limit
    this.#renewing = this.#renew()
  }

  get limit(): number {
    return this.#limit
  }

  /** Takes a slot for the session; false when the client has reached its limit. @throws StoreUnavailable */
  async take(owner: Owner, sessionId: string): Promise<boolean> {
    this.#undecided.add(sessionId)
    try {
      const isTaken = await this.#take(owner, sessionId)
      if (isTaken) this.#held.set(sessionId, owner)
      this.#undecided.delete(sessionId)
      return isTaken
    } catch (cause) {
      // The slot may have been taken although the call failed.
      this.release(sessionId)
      throw cause
    }
  }

  release(sessionId: string): void {
    this.#held.delete(sessionId)
    this.#undecided.add(sessionId)
    const releasing = this.#release(sessionId).finally(() => {
      this.#undecided.delete(sessionId)
      this.#releasing.delete(releasing)
    })
    this.#releasing.add(releasing)
  }

  /** Resolves when every slot to be released is released. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#renewing
    await Promise.all(this.#releasing)
  }

  async #take(owner: Owner, sessionId: string): Promise<boolean> {
    const { slots, clock } = this.#deps
    const take = () => slots.take(this.#slot(owner, sessionId), this.#limit, TTL_MS)
    let isTaken = await take()
    for (const pauseMs of FREEING_MS) {
      if (isTaken) break
      await clock.sleep(pauseMs, this.#stopping.signal).catch(() => undefined)
      isTaken = await take()
    }
    return isTaken
  }

  #slot({ platformId, keyId }: Owner, sessionId: string): StreamSlot {
    return { platformId, keyId, sessionId, nodeId: this.#nodeId }
  }

  async #release(sessionId: string): Promise<void> {
    for (let tries = 1; tries <= RELEASE_TRIES; tries += 1) {
      try {
        return await this.#deps.slots.release(sessionId)
      } catch (cause) {
        // Otherwise the next renewal finds a slot without a session, and the slots of a stopped node expire.
        this.#deps.log.warn('a session’s slot could not be released', { sessionId, tries, cause })
        await this.#deps.clock.sleep(RENEW_MS, this.#stopping.signal).catch(() => undefined)
      }
    }
  }

  async #renew(): Promise<void> {
    const { clock, log } = this.#deps
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await clock.sleep(RENEW_MS, signal).catch(() => undefined)
      if (signal.aborted || this.#held.size === 0) continue
      await this.#renewAll().catch(cause => log.warn('session slots could not be renewed', { cause }))
    }
  }

  /** Slots that expired while the database was unavailable are taken again; those that could not be released are released now. */
  async #renewAll(): Promise<void> {
    const { slots, log } = this.#deps
    const before = [...this.#held]
    const renewed = new Set(await slots.renew(this.#nodeId, TTL_MS))
    for (const sessionId of renewed) if (!this.#held.has(sessionId) && !this.#undecided.has(sessionId)) this.release(sessionId)
    for (const [sessionId, owner] of before) {
      if (renewed.has(sessionId) || !this.#held.has(sessionId)) continue
      const isTaken = await slots.take(this.#slot(owner, sessionId), this.#limit, TTL_MS)
      if (!this.#held.has(sessionId)) this.release(sessionId)
      else if (!isTaken) log.warn('a session continues without a slot: others took it while the database was unavailable', { sessionId })
    }
  }
}
