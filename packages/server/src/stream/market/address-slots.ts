import type { NodeId } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { addressGroup } from '../../auth/address.ts'

/** Where all nodes count sessions. */
export interface AddressSlotStore {
  take(sessionId: string, address: string, nodeId: NodeId, limit: number): Promise<boolean>
  release(sessionIds: readonly string[]): Promise<void>
}

export interface AddressSlotsDeps {
  readonly store: AddressSlotStore
  readonly nodeId: NodeId
  readonly clock: Clock
  readonly log: Log
}

/** A client may notice the end of its session before we do: a new session waits this long for its slot before it is refused. */
const FREEING_MS = [20, 100]
const RETRY_MS = 1_000

/**
 * The slots that this node's sessions hold of their addresses' limits, which are exact over all nodes. The slots of a node that dies count
 * until its lease ends.
 */
export class AddressSlots {
  readonly #deps: AddressSlotsDeps
  readonly #stopping = new AbortController()
  readonly #held = new Set<string>()
  readonly #ended = new Set<string>()
  #releasing: Promise<void> | null = null

  constructor(deps: AddressSlotsDeps) {
    this.#deps = deps
  }

  /** False: the address has `limit` sessions. @throws StoreUnavailable, CommitUnknown */
  async take({ sessionId, address }: { readonly sessionId: string; readonly address: string }, limit: number): Promise<boolean> {
    const { store, nodeId, clock } = this.#deps
    const take = () => store.take(sessionId, addressGroup(address), nodeId, limit)
    try {
      let isTaken = await take()
      for (const pauseMs of FREEING_MS) {
        if (isTaken) break
        await clock.sleep(pauseMs, this.#stopping.signal).catch(() => undefined)
        isTaken = await take()
      }
      if (isTaken) this.#held.add(sessionId)
      return isTaken
    } catch (cause) {
      // It may have been taken all the same.
      this.#held.add(sessionId)
      this.release(sessionId)
      throw cause
    }
  }

  /** Does not wait, and does nothing for a session without a slot. */
  release(sessionId: string): void {
    if (!this.#held.delete(sessionId)) return
    this.#ended.add(sessionId)
    this.#releasing ??= this.#releaseAll()
  }

  /** What cannot be released now counts until this node has left. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#releasing
  }

  async #releaseAll(): Promise<void> {
    const { store, clock, log } = this.#deps
    const { signal } = this.#stopping
    // One statement for the sessions of one turn.
    await clock.nextTurn()
    while (this.#ended.size > 0) {
      const ended = [...this.#ended]
      try {
        await store.release(ended)
        for (const sessionId of ended) this.#ended.delete(sessionId)
      } catch (cause) {
        log.warn('slots of market data sessions could not be released yet', { sessions: ended.length, cause })
        if (signal.aborted) break
        await clock.sleep(RETRY_MS, signal).catch(() => undefined)
      }
    }
    this.#releasing = null
  }
}
