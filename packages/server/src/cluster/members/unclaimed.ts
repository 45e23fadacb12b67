import { ALL_PARTITIONS, type Partition } from '@trunkline/core/domain/partition'
import type { MembersView } from './messages.ts'

/** A node whose share a partition is claims it long before. */
const UNCLAIMED_MS = 400

/** Partitions without an owner that nobody has claimed for a while, by this node's monotonic clock. */
export class Unclaimed {
  #since = new Map<Partition, number>()

  /** @param cameMs when the view came */
  observe({ owners }: Pick<MembersView, 'owners'>, cameMs: number): ReadonlySet<Partition> {
    const since = new Map<Partition, number>()
    for (const partition of ALL_PARTITIONS) {
      if (owners[partition] === null) since.set(partition, this.#since.get(partition) ?? cameMs)
    }
    this.#since = since
    return new Set([...since].flatMap(([partition, atMs]) => (cameMs - atMs >= UNCLAIMED_MS ? [partition] : [])))
  }
}
