import type { LeftOut } from '../../domain/account.ts'
import type { ConnectionId } from '../../domain/ids.ts'
import { setBounded } from '../bounded-map.ts'
import type { Deps } from '../deps.ts'

/** Most connections with partial lists that are remembered. */
const CONNECTIONS_MAX = 20_000
/** Most partial lists of a connection: some for each of its accounts. */
const LISTS_MAX = 500

/** The lists of each connection that were partial when they were last read: records were left out of them. */
export class PartialLists {
  readonly #clock: Pick<Deps['clock'], 'now'>
  /** By list: what its records are, and the account. */
  readonly #partial = new Map<ConnectionId, Map<string, LeftOut>>()

  constructor(clock: Pick<Deps['clock'], 'now'>) {
    this.#clock = clock
  }

  /** Records how many records a list was read without; none: it is whole. */
  note(connectionId: ConnectionId, list: string, records: number): void {
    const lists = this.#partial.get(connectionId) ?? new Map<string, LeftOut>()
    if (records > 0) {
      setBounded(lists, list, { records, at: this.#clock.now() }, LISTS_MAX)
      setBounded(this.#partial, connectionId, lists, CONNECTIONS_MAX)
    } else if (lists.delete(list) && lists.size === 0) this.#partial.delete(connectionId)
  }

  /** How many records the connection's lists lack at present, and when one was last left out; null: none. */
  of(connectionId: ConnectionId): LeftOut | null {
    const lists = [...(this.#partial.get(connectionId)?.values() ?? [])]
    const [first, ...others] = lists
    if (first === undefined) return null
    return others.reduce((sum, { records, at }) => ({ records: sum.records + records, at: at > sum.at ? at : sum.at }), first)
  }

  forget(connectionId: ConnectionId): void {
    this.#partial.delete(connectionId)
  }
}
