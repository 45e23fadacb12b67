// Slots of stream sessions by the simulation's time: the database's own clock knows nothing of it.
import type { Clock } from '@trunkline/core/ports/clock'
import type { StreamSlot, StreamSlotStore } from '@trunkline/core/ports/store'

interface Slot {
  readonly keyId: string
  readonly nodeId: string
  until: number
}

export class SceneSlots implements StreamSlotStore {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #slots = new Map<string, Slot>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Slots that are held now. */
  get held(): number {
    return [...this.#slots.values()].filter(({ until }) => until > this.#clock.monotonicMs()).length
  }

  async take({ keyId, sessionId, nodeId }: StreamSlot, limit: number, ttlMs: number): Promise<boolean> {
    const now = this.#clock.monotonicMs()
    const others = [...this.#slots].filter(([id, slot]) => id !== sessionId && slot.keyId === keyId && slot.until > now)
    if (others.length >= limit) return false
    this.#slots.set(sessionId, { keyId, nodeId, until: now + ttlMs })
    return true
  }

  async renew(nodeId: string, ttlMs: number): Promise<readonly string[]> {
    const renewed = [...this.#slots].filter(([, slot]) => slot.nodeId === nodeId)
    for (const [, slot] of renewed) slot.until = this.#clock.monotonicMs() + ttlMs
    return renewed.map(([sessionId]) => sessionId)
  }

  async release(sessionId: string): Promise<void> {
    this.#slots.delete(sessionId)
  }
}
