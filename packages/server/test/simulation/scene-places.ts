// Places of stream sessions by the simulation's time: the database's own clock knows nothing of it.
import type { Clock } from '@trunkline/core/ports/clock'
import type { StreamSlot, StreamSlotStore } from '@trunkline/core/ports/store'

interface Place {
  readonly keyId: string
  readonly nodeId: string
  until: number
}

export class ScenePlaces implements StreamSlotStore {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #places = new Map<string, Place>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Places that are held now. */
  get held(): number {
    return [...this.#places.values()].filter(({ until }) => until > this.#clock.monotonicMs()).length
  }

  async take({ keyId, sessionId, nodeId }: StreamSlot, limit: number, ttlMs: number): Promise<boolean> {
    const now = this.#clock.monotonicMs()
    const others = [...this.#places].filter(([id, place]) => id !== sessionId && place.keyId === keyId && place.until > now)
    if (others.length >= limit) return false
    this.#places.set(sessionId, { keyId, nodeId, until: now + ttlMs })
    return true
  }

  async renew(nodeId: string, ttlMs: number): Promise<readonly string[]> {
    const kept = [...this.#places].filter(([, place]) => place.nodeId === nodeId)
    for (const [, place] of kept) place.until = this.#clock.monotonicMs() + ttlMs
    return kept.map(([sessionId]) => sessionId)
  }

  async release(sessionId: string): Promise<void> {
    this.#places.delete(sessionId)
  }
}
