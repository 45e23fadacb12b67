import type { UserKey } from '../domain/ids.ts'
import type { Ownership } from '../ports/ownership.ts'

/** Whether this node does the user's work now. */
export function isOwned(ownership: Ownership, userKey: UserKey): boolean {
  return ownership.ownerOf(userKey).kind === 'this'
}
