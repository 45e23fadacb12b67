import type { KeyId, PlatformId } from '../domain/ids.ts'

export interface StreamSlot {
  readonly platformId: PlatformId
  readonly keyId: KeyId
  readonly sessionId: string
  readonly nodeId: string
}

/** Which stream sessions hold a place of their key, over all nodes. Times are the database's own, so that no two clocks are compared. */
export interface StreamSlotStore {
  /** Takes one of the key's `limit` places for `ttlMs`; false when all are held. Places that ran out are free. */
  take(slot: StreamSlot, limit: number, ttlMs: number): Promise<boolean>
  /** Keeps every place of the node for another `ttlMs`. Gives the sessions whose places it still had. */
  renew(nodeId: string, ttlMs: number): Promise<readonly string[]>
  release(sessionId: string): Promise<void>
}
