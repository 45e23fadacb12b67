// What the main thread and the thread that renews send each other.
import type { NodeId } from '@trunkline/core/domain/ids'
import type { Partition } from '@trunkline/core/domain/partition'

export interface Node {
  readonly nodeId: NodeId
  /** Where other nodes reach it. */
  readonly url: string
  /** For operators: host and process. */
  readonly name: string
}

export interface LeaseTiming {
  /** How long the lease lasts after each renewal, by the database's clock. */
  readonly leaseMs: number
  /** So much earlier the node stops acting as an owner, by the monotonic clock: for clocks that do not run alike. */
  readonly marginMs: number
  readonly renewEveryMs: number
  /** After a failure. */
  readonly retryMs: number
  /** A main thread that is blocked for longer will not come back soon: the lease is left to end, so that others take over. */
  readonly blockedMsMax: number
  /** A node that could not join for so long ends. */
  readonly joinMsMax: number
}

export interface MemberRow {
  readonly nodeId: NodeId
  readonly url: string
  readonly name: string
  readonly renewals: number
  readonly isDraining: boolean
  /** How long the lease still lasts, by the database's clock; negative: it has ended. */
  readonly leaseMs: number
  readonly joinedMs: number
}

/** Members and partitions as they were in the database at one moment. */
export interface MembersView {
  readonly members: readonly MemberRow[]
  /** By partition. */
  readonly owners: readonly (NodeId | null)[]
  readonly fences: readonly number[]
}

/** A member that was not seen to renew for a whole lease. */
export interface SilentMember {
  readonly nodeId: NodeId
  readonly renewals: number
}

/** Executed in the order of their ids. */
export type Command =
  | { readonly kind: 'claim'; readonly id: number; readonly partitions: readonly Partition[]; readonly silent: readonly SilentMember[] }
  | { readonly kind: 'release'; readonly id: number; readonly partitions: readonly Partition[] }
  | { readonly kind: 'drain'; readonly id: number }
  | { readonly kind: 'leave'; readonly id: number }

export type Request = Command | { readonly kind: 'look' }

export type Notice =
  | {
      readonly kind: 'view'
      readonly view: MembersView
      /** The database's wall clock, between the two times below. */
      readonly wallMs: number
      /** When it was asked for, and when it came, by the clock that the threads share. */
      readonly sentMs: number
      readonly cameMs: number
      /** The newest command that was over before: the view contains what it did. A claim may have failed. */
      readonly done: number
    }
  | { readonly kind: 'left' }
  | { readonly kind: 'lost'; readonly why: string }
  | { readonly kind: 'warning'; readonly message: string; readonly cause: string }

/** What keeps the lease, in another thread. */
export interface Keeper {
  request(request: Request): void
  /** Ends it at once. A lease that was not left ends by itself. */
  abort(): Promise<void>
}

export type StartKeeper = (post: (notice: Notice) => void) => Keeper

export interface ThreadInput {
  /** The database's. */
  readonly url: string
  readonly node: Node
  readonly timing: LeaseTiming
  readonly memory: SharedArrayBuffer
}
