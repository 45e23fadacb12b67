import type { ConnectionHealth } from '@trunkline/core/domain/account'
import type { ConnectionId, UserId, UserKey } from '@trunkline/core/domain/ids'
import type { UpdateFrame } from '@trunkline/core/ports/bus'
import type { LoggedEvent } from '@trunkline/core/ports/store'

/** Topics as bits, so that whether a session wants an update is one operation. */
export const TOPIC_BITS = { orders: 1, positions: 2, balances: 4 } as const satisfies Record<LoggedEvent['topic'], number>
export const ALL_TOPICS = TOPIC_BITS.orders | TOPIC_BITS.positions | TOPIC_BITS.balances

/** A session, as the hub sees it. None of its methods may throw. */
export interface Subscriber {
  /** Bits of {@link TOPIC_BITS}. */
  readonly topics: number
  /** An update of a topic it wants; `frame` is shared with others. */
  update(feed: Feed, seq: number, frame: Uint8Array): void
  /** A connection's health changed. */
  status(frame: () => Uint8Array): void
  /** The user was deleted or disabled; no more updates follow. */
  removed(feed: Feed): void
}

/** An event as this node's parts publish it, or as another node sent it. */
export type FeedUpdate = LoggedEvent | (UpdateFrame & { readonly frame: Uint8Array })

/** One user's events on this node, in the order of their numbers. Only the hub changes it. */
export interface Feed {
  readonly userKey: UserKey
  readonly userId: UserId
  /** Number of the last event that was delivered. */
  position: number
  readonly subscribers: Subscriber[]
  /** Sessions that are subscribed, or about to be. */
  holders: number
  /** Events whose predecessor has not arrived yet, by number; null if there are none. */
  early: Map<number, FeedUpdate> | null
  /** The health that all its sessions were sent last, by connection; null if they were sent none since the newest of them came. */
  statuses: Map<ConnectionId, ConnectionHealth> | null
  /** Until `position` is known. */
  opening: Promise<void> | null
  isRemoved: boolean
  /** Lets updates of other nodes arrive. */
  readonly following: Disposable
}
