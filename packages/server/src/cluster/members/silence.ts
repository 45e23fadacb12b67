import type { NodeId } from '@trunkline/core/domain/ids'
import type { MembersView, SilentMember } from './messages.ts'

/**
 * Members that have not renewed for a whole lease by this node's monotonic clock. Their leases have ended, whatever the database's clock
 * shows: it may have been set back since they were renewed.
 */
export class Silence {
  readonly #leaseMs: number
  /** The newest renewal that was seen of each member, and when it was seen first. */
  #seen = new Map<NodeId, { readonly renewals: number; readonly atMs: number }>()

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs
  }

  /** @param sentMs when the view was asked for, and @param cameMs when it came */
  observe({ members }: MembersView, sentMs: number, cameMs: number): readonly SilentMember[] {
    const silent: SilentMember[] = []
    const seen = new Map<NodeId, { readonly renewals: number; readonly atMs: number }>()
    for (const { nodeId, renewals } of members) {
      const before = this.#seen.get(nodeId)
      if (before?.renewals !== renewals) seen.set(nodeId, { renewals, atMs: cameMs })
      else {
        seen.set(nodeId, before)
        if (sentMs - before.atMs >= this.#leaseMs) silent.push({ nodeId, renewals })
      }
    }
    this.#seen = seen
    return silent
  }
}
