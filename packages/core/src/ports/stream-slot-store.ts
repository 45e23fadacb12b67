import type { KeyId, PlatformId } from '../domain/ids.ts'

export interface StreamSlot {
  readonly platformId: PlatformId
  readonly keyId: KeyId
  readonly sessionId: string
  readonly nodeId: string
}

/** The stream sessions that hold a slot of their key, across all nodes. Times are the database's, so that clocks are never compared. */
export interface StreamSlotStore {
  /** Takes one of the key's `limit` slots for `ttlMs`; false if all are taken. Expired slots are free. */
  take(slot: StreamSlot, limit: number, ttlMs: number): Promise<boolean>
  /** Renews every slot of the node for another `ttlMs`. Returns the sessions whose slots it still held. */
  renew(nodeId: string, ttlMs: number): Promise<readonly string[]>
  release(sessionId: string): Promise<void>
}
