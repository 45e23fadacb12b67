import type { UserKey } from '@trunkline/core/domain/ids'
import type { EventStore, LoggedEvent } from '@trunkline/core/ports/store'

/** A log for events that are published but not stored: it counts each user's events, and keeps none. */
export class CountingLog implements EventStore {
  readonly #counts: Uint32Array
  readonly #numberOf: ReadonlyMap<UserKey, number>

  /** @param users the users of the events; later calls identify a user by its index in this list */
  constructor(users: readonly UserKey[]) {
    this.#counts = new Uint32Array(users.length)
    this.#numberOf = new Map(users.map((userKey, number) => [userKey, number]))
  }

  /** The number of the user's next event, which counts as published. */
  next(user: number): number {
    const seq = (this.#counts[user] ?? 0) + 1
    this.#counts[user] = seq
    return seq
  }

  async read(): Promise<readonly LoggedEvent[]> {
    return []
  }

  async last(userKey: UserKey): Promise<number> {
    return this.#counts[this.#numberOf.get(userKey) ?? -1] ?? 0
  }

  async lasts(userKeys: readonly UserKey[]): Promise<ReadonlyMap<UserKey, number>> {
    const lasts = await Promise.all(userKeys.map(async userKey => [userKey, await this.last(userKey)] as const))
    return new Map(lasts.filter(([, last]) => last > 0))
  }

  async span(userKey: UserKey): Promise<{ readonly oldest: number; readonly last: number }> {
    const last = await this.last(userKey)
    return { oldest: last + 1, last }
  }

  async prune(): Promise<number> {
    return 0
  }
}
