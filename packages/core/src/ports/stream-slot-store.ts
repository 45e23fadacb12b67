import type { KeyId, PlatformId } from '../domain/ids.ts'

export interface StreamSlot {
  readonly platformId: PlatformId
  readonly keyId: KeyId
  readonly sessionId: string
  readonly nodeId: string
}

/** Which stream sessions hold a slot of their key, over all nodes. Times are the database's own, so that no two clocks are compared. */
export interface StreamSlotStore {
  /** Takes one of the key's `limit` slots for `ttlMs`; false when all are held. Expired slots are free. */
  take(slot: StreamSlot, limit: number, ttlMs: number): Promise<boolean>
  /** Renews every slot of the node for another `ttlMs`. Returns the sessions whose slots it still had. */
  renew(nodeId: string, ttlMs: number): Promise<readonly string[]>
  release(sessionId: string): Promise<void>
}
