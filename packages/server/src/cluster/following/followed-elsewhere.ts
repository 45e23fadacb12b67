import type { UserWatch } from '@trunkline/core/app/mirror/user-watch'
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import { type Partition, partitionOf } from '@trunkline/core/domain/partition'
import type { Clock } from '@trunkline/core/ports/clock'
import { FOLLOWED_EVERY_MS } from './following.ts'

/** After this time without a list, a node follows nobody. */
const SILENT_MS = 3 * FOLLOWED_EVERY_MS

/** Users that other nodes' sessions follow: each is held until its node releases it, or has sent nothing for some time. */
export class FollowedElsewhere {
  readonly #watch: Pick<UserWatch, 'hold' | 'release'>
  readonly #clock: Pick<Clock, 'alarm' | 'monotonicMs'>
  readonly #nodes = new Map<NodeId, { users: ReadonlySet<UserKey>; expiry: Disposable }>()
  /** By how many nodes each user is followed. */
  readonly #counts = new Map<UserKey, number>()
  readonly #gainedMs = new Map<Partition, number>()
  #isStopped = false

  constructor(watch: Pick<UserWatch, 'hold' | 'release'>, clock: Pick<Clock, 'alarm' | 'monotonicMs'>) {
    this.#watch = watch
    this.#clock = clock
  }

  /** This node owns the partitions from now on: others are about to send it which of their users they follow. */
  gained(partitions: ReadonlySet<Partition>): void {
    for (const partition of partitions) this.#gainedMs.set(partition, this.#clock.monotonicMs())
  }

  /** Whether another node may follow a user whom this one owns. Soon after it became the owner, it does not know yet. */
  mayFollow(userKey: UserKey): boolean {
    if (this.#counts.has(userKey)) return true
    const gainedMs = this.#gainedMs.get(partitionOf(userKey))
    return gainedMs === undefined || this.#clock.monotonicMs() - gainedMs < SILENT_MS
  }

  /** The users that are followed at the node; null: none. */
  usersAt(nodeId: NodeId): ReadonlySet<UserKey> | null {
    return this.#nodes.get(nodeId)?.users ?? null
  }

  /** Replaces the users that are followed at the node. After the stop there are none: other nodes may still send theirs. */
  replace(nodeId: NodeId, list: readonly UserKey[]): void {
    if (!this.#isStopped) this.#replace(nodeId, list)
  }

  stop(): void {
    this.#isStopped = true
    for (const nodeId of [...this.#nodes.keys()]) this.#replace(nodeId, [])
  }

  #replace(nodeId: NodeId, list: readonly UserKey[]): void {
    const users = new Set(list)
    const before = this.#nodes.get(nodeId)
    before?.expiry[Symbol.dispose]()
    for (const userKey of users) if (before?.users.has(userKey) !== true) this.#hold(userKey)
    for (const userKey of before?.users ?? []) if (!users.has(userKey)) this.#release(userKey)
    if (users.size === 0) this.#nodes.delete(nodeId)
    else this.#nodes.set(nodeId, { users, expiry: this.#clock.alarm(SILENT_MS, () => this.#replace(nodeId, [])) })
  }

  #hold(userKey: UserKey): void {
    this.#counts.set(userKey, (this.#counts.get(userKey) ?? 0) + 1)
    this.#watch.hold(userKey)
  }

  #release(userKey: UserKey): void {
    const left = (this.#counts.get(userKey) ?? 1) - 1
    if (left > 0) this.#counts.set(userKey, left)
    else this.#counts.delete(userKey)
    this.#watch.release(userKey)
  }
}
