import type { NodeId } from '@trunkline/core/domain/ids'
import { ALL_PARTITIONS, type Partition } from '@trunkline/core/domain/partition'
import type { MemberRow, MembersView, SilentMember } from './messages.ts'
import { division } from './rendezvous.ts'

/** What a node does about what it sees. */
export interface Plan {
  /** Free, and this node's share. The database decides. */
  readonly claim: readonly Partition[]
  /** Owned by this node, and another one's share: to be released. */
  readonly give: readonly Partition[]
}

export interface PlanInput {
  readonly view: MembersView
  readonly nodeId: NodeId
  readonly leaseMs: number
  readonly silent: readonly SilentMember[]
}

/**
 * A member that has missed renewals for half a lease gets no partitions, so that none waits for a node that may be dead. It keeps what it
 * has until its lease ends.
 */
const FRESH_SHARE = 0.5

export function planOf({ view, nodeId, leaseMs, silent }: PlanInput): Plan {
  const silentIds = new Set(silent.map(member => member.nodeId))
  const isFresh = (member: MemberRow) =>
    member.nodeId === nodeId || (member.leaseMs >= FRESH_SHARE * leaseMs && !silentIds.has(member.nodeId))
  const candidates = view.members.filter(member => !member.isDraining && isFresh(member)).map(member => member.nodeId)
  const owners = new Set(view.members.filter(member => member.leaseMs > 0 && !silentIds.has(member.nodeId)).map(member => member.nodeId))
  const shares = division(candidates)
  const [claim, give]: [Partition[], Partition[]] = [[], []]
  for (const partition of ALL_PARTITIONS) {
    const owner = view.owners[partition] ?? null
    const isShare = shares.get(partition) === nodeId
    if (owner === nodeId) {
      if (!isShare) give.push(partition)
    } else if (isShare && (owner === null || !owners.has(owner))) claim.push(partition)
  }
  return { claim, give }
}
