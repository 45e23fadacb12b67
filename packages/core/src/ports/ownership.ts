import type { NodeId, UserKey } from '../domain/ids.ts'
import type { Partition } from '../domain/partition.ts'

/** Another node, as an owner. */
export interface OwnerNode {
  readonly nodeId: NodeId
  /** Where it takes requests of other nodes; without a trailing slash. */
  readonly url: string
}

/** `none`: the partition is being moved, or its owner is dead and its lease has not ended yet. */
export type Owner = { readonly kind: 'this' } | { readonly kind: 'other'; readonly node: OwnerNode } | { readonly kind: 'none' }

export interface OwnershipListener {
  /** This node owns these partitions from now on: their work begins. */
  gained(partitions: ReadonlySet<Partition>): void
  /** Ends the work for these partitions, so that another node can begin. The caller bounds the wait. */
  release(partitions: ReadonlySet<Partition>): Promise<void>
}

/** Which node does the work for which users. */
export interface Ownership {
  /** The owner of the user's partition, as this node knows it. `this` only while its lease is held, by the monotonic clock. */
  ownerOf(userKey: UserKey): Owner
  /** The fence of the user's partition while this node owns it, else null. 0 where there is one node. */
  fenceOf(userKey: UserKey): number | null
  /** Resolves when an owner may have changed, or after `ms`. */
  changed(ms: number): Promise<void>
  /** The listener receives what this node owns already as gained, at once. Returns the function that unsubscribes. */
  listen(listener: OwnershipListener): () => void
}
