import type { UserWatch } from '@trunkline/core/app/mirror/user-watch'
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import { FOLLOWED_EVERY_MS } from './following.ts'

/** Users that other nodes' sessions follow: each is held until its node releases it, or has sent nothing for some time. */
export class FollowedElsewhere {
  readonly #watch: Pick<UserWatch, 'hold' | 'release'>
  readonly #clock: Pick<Clock, 'alarm'>
  readonly #nodes = new Map<NodeId, { users: ReadonlySet<UserKey>; expiry: Disposable }>()

  constructor(watch: Pick<UserWatch, 'hold' | 'release'>, clock: Pick<Clock, 'alarm'>) {
    this.#watch = watch
    this.#clock = clock
  }

  /** Replaces the users that are followed at the node. */
  replace(nodeId: NodeId, list: readonly UserKey[]): void {
    const users = new Set(list)
    const before = this.#nodes.get(nodeId)
    before?.expiry[Symbol.dispose]()
    for (const userKey of users) if (before?.users.has(userKey) !== true) this.#watch.hold(userKey)
    for (const userKey of before?.users ?? []) if (!users.has(userKey)) this.#watch.release(userKey)
    if (users.size === 0) this.#nodes.delete(nodeId)
    else this.#nodes.set(nodeId, { users, expiry: this.#clock.alarm(3 * FOLLOWED_EVERY_MS, () => this.replace(nodeId, [])) })
  }

  stop(): void {
    for (const nodeId of [...this.#nodes.keys()]) this.replace(nodeId, [])
  }
}
