import type { Account, Connection } from '../domain/account.ts'
import type { UserKey } from '../domain/ids.ts'
import { setBounded } from './bounded-map.ts'
import type { Deps } from './deps.ts'

const USERS_MAX = 20_000
/** The bus reports changes at once; this bounds the effect of a message lost between nodes. */
const REMEMBER_MS = 2_000

/** What belongs to a user. */
export interface Owned {
  /** Newest first. */
  readonly connections: readonly Connection[]
  readonly accounts: readonly Account[]
}

interface Entry extends Owned {
  readonly readAt: number
}

/**
 * Caches the connections and accounts of users, which every request needs and which seldom change. Entries live until the bus reports a
 * change, two seconds at most.
 */
export class Directory implements Disposable {
  readonly #deps: Pick<Deps, 'store' | 'clock'>
  readonly #entries = new Map<UserKey, Entry>()
  readonly #unsubscribe: () => void
  /** Counts changes, so that a read from before a change is not cached after it. */
  #changes = 0

  constructor(deps: Pick<Deps, 'store' | 'bus' | 'clock'>) {
    this.#deps = deps
    this.#unsubscribe = deps.bus.subscribe(
      message => {
        this.#changes += 1
        if ('userKey' in message) this.#entries.delete(message.userKey)
        else this.#entries.clear()
      },
      ['user_removed', 'connection_changed', 'connection_removed', 'bus_resumed']
    )
  }

  /** The user's connections, newest first. */
  async connections(userKey: UserKey): Promise<readonly Connection[]> {
    return (await this.of(userKey)).connections
  }

  async accounts(userKey: UserKey): Promise<readonly Account[]> {
    return (await this.of(userKey)).accounts
  }

  [Symbol.dispose](): void {
    this.#unsubscribe()
  }

  /** The user's connections and accounts. */
  async of(userKey: UserKey): Promise<Owned> {
    const known = this.#entries.get(userKey)
    const now = this.#deps.clock.monotonicMs()
    if (known !== undefined && now - known.readAt < REMEMBER_MS) return known
    const before = this.#changes
    const { connections, accounts } = this.#deps.store
    const [links, owned] = await Promise.all([connections.listByUser(userKey, null), accounts.listByUser(userKey)])
    const entry = { connections: links, accounts: owned, readAt: now }
    if (before === this.#changes) setBounded(this.#entries, userKey, entry, USERS_MAX)
    return entry
  }
}
