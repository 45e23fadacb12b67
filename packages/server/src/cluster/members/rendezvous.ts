import { createHash } from 'node:crypto'
import type { NodeId } from '@trunkline/core/domain/ids'
import { ALL_PARTITIONS, PARTITIONS, type Partition } from '@trunkline/core/domain/partition'

const BYTES = 4
/** Nodes that come and go in the life of a process are few; the bound is for the memory's sake. */
const KNOWN_MAX = 100
const known = new Map<NodeId, readonly number[]>()

/**
 * Divides the partitions among the nodes by rendezvous hashing: each belongs to the node with the highest score for it. All nodes find the
 * same division by themselves, and one node more or less moves only its own share. Empty if there are no nodes.
 */
export function division(nodes: readonly NodeId[]): ReadonlyMap<Partition, NodeId> {
  const scored = nodes.toSorted().map(nodeId => ({ nodeId, scores: scoresOf(nodeId) }))
  const owners = new Map<Partition, NodeId>()
  for (const partition of ALL_PARTITIONS) {
    let best = -1
    for (const { nodeId, scores } of scored) {
      const score = scores[partition] ?? 0
      if (score <= best) continue
      best = score
      owners.set(partition, nodeId)
    }
  }
  return owners
}

function scoresOf(nodeId: NodeId): readonly number[] {
  const found = known.get(nodeId)
  if (found !== undefined) return found
  const digest = createHash('shake256', { outputLength: PARTITIONS * BYTES })
    .update(nodeId)
    .digest()
  const scores = ALL_PARTITIONS.map(partition => digest.readUInt32BE(partition * BYTES))
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(nodeId, scores)
  return scores
}
