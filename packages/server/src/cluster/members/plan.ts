import type { NodeId } from '@trunkline/core/domain/ids'
import { ALL_PARTITIONS, PARTITIONS, type Partition } from '@trunkline/core/domain/partition'
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
  /** What nobody has claimed for a while, although it is free. */
  readonly unclaimed: ReadonlySet<Partition>
}

/**
 * A member that has missed renewals for half a lease gets no partitions, so that none waits for a node that may be dead. It keeps what it
 * has until its lease ends.
 */
const FRESH_SHARE = 0.5

/**
 * A member that joins others owns nothing at first: it passes requests on, which warms it up. Then it gets its share little by little, so
 * that no user waits for many others. Members that joined within `togetherMs` of the oldest one have nobody to wait for.
 */
export const NEWCOMER = { togetherMs: 1_500, warmMs: 2_000, growMs: 4_000 } as const

export function planOf({ view, nodeId, leaseMs, silent, unclaimed }: PlanInput): Plan {
  const silentIds = new Set(silent.map(member => member.nodeId))
  const isFresh = (member: MemberRow) =>
    member.nodeId === nodeId || (member.leaseMs >= FRESH_SHARE * leaseMs && !silentIds.has(member.nodeId))
  const candidates = view.members.filter(member => !member.isDraining && isFresh(member))
  const owners = new Set(view.members.filter(member => member.leaseMs > 0 && !silentIds.has(member.nodeId)).map(member => member.nodeId))
  const final = division(candidates.map(member => member.nodeId))
  const present = presentOf(candidates, final)
  const [claim, give]: [Partition[], Partition[]] = [[], []]
  for (const partition of ALL_PARTITIONS) {
    const owner = view.owners[partition] ?? null
    const isPresent = present(partition) === nodeId
    const isFinal = final.get(partition) === nodeId
    if (owner === nodeId) {
      // What would come back is not given away.
      if (!isPresent && !isFinal) give.push(partition)
    } else if (isPresent ? owner === null || !owners.has(owner) : isFinal && unclaimed.has(partition)) {
      // A node of an earlier version gives a newcomer its whole share at once, and then claims nothing of it. What nodes of this version
      // release is claimed by another one at once.
      claim.push(partition)
    }
  }
  return { claim, give }
}

/** Whose share each partition is at this moment, while newcomers still grow. Their ages are the database's, so nodes agree. */
function presentOf(candidates: readonly MemberRow[], final: ReadonlyMap<Partition, NodeId>): (partition: Partition) => NodeId | undefined {
  const { togetherMs, warmMs, growMs } = NEWCOMER
  const oldestMs = Math.max(...candidates.map(({ joinedMs }) => joinedMs))
  const isNew = ({ joinedMs }: MemberRow) => oldestMs - joinedMs > togetherMs && joinedMs < warmMs + growMs
  if (!candidates.some(isNew)) return partition => final.get(partition)
  // Users are spread over the partitions by chance, so their numbers do as an order.
  const untilOf = (member: MemberRow) => (isNew(member) ? ((member.joinedMs - warmMs) / growMs) * PARTITIONS : PARTITIONS)
  const grown = candidates.map(member => ({ nodeId: member.nodeId, until: untilOf(member) }))
  const divisions = new Map<string, ReadonlyMap<Partition, NodeId>>()
  return partition => {
    const ids = grown.flatMap(({ nodeId, until }) => (partition < until ? [nodeId] : []))
    const shares = divisions.get(ids.join()) ?? division(ids)
    divisions.set(ids.join(), shares)
    return shares.get(partition)
  }
}
