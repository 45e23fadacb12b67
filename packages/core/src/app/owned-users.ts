import type { UserKey } from '../domain/ids.ts'
import type { Ownership } from '../ports/ownership.ts'

/** Whether this node does the user's work now. */
export function isOwned(ownership: Ownership, userKey: UserKey): boolean {
  return ownership.ownerOf(userKey).kind === 'this'
}

/** Whether work that has begun may be finished: also while the user moves away, as long as no other node can have become the owner. */
export function mayFinish(ownership: Ownership, userKey: UserKey): boolean {
  return ownership.fenceOf(userKey) !== null
}
