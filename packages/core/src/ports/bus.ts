import type { ConnectionHealth } from '../domain/account.ts'
import type { ConnectionId, PlatformId, UserKey } from '../domain/ids.ts'
import type { LoggedEvent } from './store.ts'

/** What travels between the parts of a node, and between nodes. Always a hint: the truth is in the store. */
export type BusMessage =
  | { readonly type: 'events'; readonly userKey: UserKey; readonly events: readonly LoggedEvent[] }
  | { readonly type: 'user_removed'; readonly userKey: UserKey }
  | { readonly type: 'user_secret_changed'; readonly userKey: UserKey }
  | { readonly type: 'connection_changed'; readonly userKey: UserKey; readonly connectionId: ConnectionId }
  | { readonly type: 'connection_removed'; readonly userKey: UserKey; readonly connectionId: ConnectionId }
  | {
      readonly type: 'connection_health'
      readonly userKey: UserKey
      readonly connectionId: ConnectionId
      readonly health: ConnectionHealth
    }
  | { readonly type: 'platform_secret_changed'; readonly platformId: PlatformId }

export interface Bus {
  /** Delivered to every subscriber of every node, this one included, in the order published here. Never throws. */
  publish(message: BusMessage): void
  /** A listener must not throw; what it throws is logged and dropped. Returns how to stop listening. */
  subscribe(listener: (message: BusMessage) => void): () => void
}
