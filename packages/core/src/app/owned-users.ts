import type { UserKey } from '../domain/ids.ts'
import type { Ownership } from '../ports/ownership.ts'

/** Whether this node does the user's work now. */
export function isOwned(ownership: Ownership, userKey: UserKey): boolean {
  return ownership.ownerOf(userKey).kind === 'this'
}

/**
 * Whether what began under the fence may be finished: also while the user moves away, as long as no other node can have become the owner.
 * A node that owns the user again has another fence: the owner in between may have decided what was left unfinished.
 */
export function mayFinish(ownership: Ownership, userKey: UserKey, fence: number | null): boolean {
  return fence !== null && ownership.fenceOf(userKey) === fence
}
