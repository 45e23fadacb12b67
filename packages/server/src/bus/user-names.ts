import type { UserId, UserKey } from '@trunkline/core/domain/ids'
import type { Log } from '@trunkline/core/ports/log'
import { LRUCache } from 'lru-cache'

/** The user with this key; null: it was deleted. */
export type FindUser = (userKey: UserKey) => Promise<{ readonly userId: UserId } | null>

const USERS_MAX = 50_000
const READS_MAX = 16

/** The names of users, which updates contain and events lack. A name never changes. */
export class UserNames {
  readonly #find: FindUser
  readonly #log: Log
  readonly #names = new LRUCache<UserKey, UserId>({ max: USERS_MAX })
  readonly #reading = new Set<UserKey>()

  constructor(find: FindUser, log: Log) {
    this.#find = find
    this.#log = log
  }

  /** Null while it is not known: then it is looked up for the next time, unless many are. */
  of(userKey: UserKey): UserId | null {
    const known = this.#names.get(userKey)
    if (known === undefined) void this.#read(userKey)
    return known ?? null
  }

  async #read(userKey: UserKey): Promise<void> {
    if (this.#reading.has(userKey) || this.#reading.size >= READS_MAX) return
    this.#reading.add(userKey)
    try {
      const user = await this.#find(userKey)
      if (user !== null) this.#names.set(userKey, user.userId)
    } catch (cause) {
      this.#log.debug('a user’s name could not be read for the bus', { userKey, cause })
    } finally {
      this.#reading.delete(userKey)
    }
  }
}
