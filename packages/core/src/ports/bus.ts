import type { ConnectionHealth } from '../domain/account.ts'
import type { ConnectionId, KeyId, NodeId, PlatformId, UserKey } from '../domain/ids.ts'
import type { Partition } from '../domain/partition.ts'
import type { LoggedEvent } from './store.ts'

/** An event of another node, as clients receive it. */
export interface UpdateFrame {
  readonly seq: number
  readonly topic: LoggedEvent['topic']
  /** What sessions are sent. Valid until the listener returns: copy what is kept. Null: to be read from the log. */
  readonly frame: Uint8Array | null
}

/** Of one limit and caller: how many were granted. */
export type Spent = readonly [limit: string, caller: string, count: number]

/** Messages between the parts of a node, and between nodes. They are hints: the store is authoritative. */
export type BusMessage =
  | { readonly type: 'events'; readonly userKey: UserKey; readonly events: readonly LoggedEvent[] }
  /** Events that another node published, of a followed user. Never published by the parts of a node. */
  | { readonly type: 'update_frames'; readonly userKey: UserKey; readonly updates: readonly UpdateFrame[] }
  /** Messages of other nodes arrive from now on. Any number of earlier ones may have been missed. Of this node only. */
  | { readonly type: 'bus_resumed' }
  /** Events of users in these partitions arrive from now on. Earlier ones may have been missed. Of this node only. */
  | { readonly type: 'partitions_followed'; readonly partitions: ReadonlySet<Partition> }
  | { readonly type: 'user_removed'; readonly userKey: UserKey }
  | { readonly type: 'user_secret_changed'; readonly userKey: UserKey }
  | { readonly type: 'connection_changed'; readonly userKey: UserKey; readonly connectionId: ConnectionId }
  /** The connection's credentials were replaced. A `connection_changed` follows. */
  | {
      readonly type: 'connection_renewed'
      readonly userKey: UserKey
      readonly connectionId: ConnectionId
      readonly wasBroken: boolean
    }
  | { readonly type: 'connection_removed'; readonly userKey: UserKey; readonly connectionId: ConnectionId }
  /** Published by the user's owner, for the parts of its node. Other nodes get a `connection_health_elsewhere`. */
  | {
      readonly type: 'connection_health'
      readonly userKey: UserKey
      readonly connectionId: ConnectionId
      readonly health: ConnectionHealth
    }
  /** The health of one of the user's connections has changed: its owner knows how. Never published by the parts of a node. */
  | { readonly type: 'connection_health_elsewhere'; readonly userKey: UserKey }
  /** A secret was issued to an owner whose earlier secrets may be cached. `name` identifies the owner in authentication attempts. */
  | { readonly type: 'secret_issued'; readonly of: 'key' | 'user'; readonly name: string; readonly secretHash: string }
  /** A secret of the platform was replaced: cached proofs are dropped and must be proved again. */
  | { readonly type: 'platform_secret_changed'; readonly platformId: PlatformId }
  /** The platform (no key named) or one of its keys was disabled or revoked: its tokens are erased, its sessions end. */
  | { readonly type: 'platform_access_ended'; readonly platformId: PlatformId; readonly keyId: KeyId | null }
  /** An endpoint for webhooks of the platform was created, changed, enabled, disabled or removed. */
  | { readonly type: 'webhooks_changed'; readonly platformId: PlatformId }
  /** The user was disabled: its tokens are erased, its sessions end. */
  | { readonly type: 'user_disabled'; readonly userKey: UserKey }
  /** A market data session was opened: the user's sessions with other tokens or from other addresses end. */
  | { readonly type: 'market_token_used'; readonly userKey: UserKey; readonly tokenHash: string; readonly address: string }
  /** Sent by each node at intervals, with the members among which it divides limits. */
  | { readonly type: 'node_alive'; readonly nodeId: NodeId; readonly members: readonly NodeId[] }
  /** What a node granted of limits that all nodes share: limit, caller and number; negative: given back. */
  | { readonly type: 'rates_spent'; readonly nodeId: NodeId; readonly spent: readonly Spent[] }

export const BUS_MESSAGE_TYPES = [
  'events',
  'update_frames',
  'bus_resumed',
  'partitions_followed',
  'user_removed',
  'user_secret_changed',
  'connection_changed',
  'connection_renewed',
  'connection_removed',
  'connection_health',
  'connection_health_elsewhere',
  'secret_issued',
  'platform_secret_changed',
  'platform_access_ended',
  'webhooks_changed',
  'user_disabled',
  'market_token_used',
  'node_alive',
  'rates_spent'
] as const satisfies readonly BusMessage['type'][]
export type BusMessageType = BusMessage['type']

export interface Bus {
  /** Delivers to every subscriber on every node, including this one, in the order published here. Never throws. */
  publish(message: BusMessage): void
  /**
   * Subscribes to messages of these types, or of all. A listener must not throw; what it throws is logged and dropped. Returns the function
   * that unsubscribes.
   */
  subscribe(listener: (message: BusMessage) => void, types?: readonly BusMessageType[]): () => void
  /**
   * Events that other nodes publish for the user arrive until the result is disposed of, as `update_frames`. Those of users who share its
   * partition may arrive too.
   */
  follow(userKey: UserKey): Disposable
}
