/** Recognizes trades that a stream sends again, so that one sent twice counts once. */

/** Ids that are remembered of an exchange. */
const REMEMBERED = 256
/** More than there are. */
const EXCHANGES_MAX = 64
/** The last trades of a symbol, without ids. */
const RECENT = 64
/** A trade so much older than the newest is an old one that is repeated while nothing happens. */
const STALE_MS = 10_000

type TradeId = string | number | bigint

/** The ids of a symbol's trades. */
export class TradeIds {
  /** By exchange: each gives its own ids, for a day. */
  readonly #ids = new Map<unknown, Set<TradeId>>()

  /** Whether the trade was sent before; without an id this cannot be known. */
  isRepeated(id: unknown, exchange: unknown): boolean {
    if (typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'bigint') return false
    return isIn(this.#ids.get(exchange) ?? this.#idsOf(exchange), id, REMEMBERED)
  }

  #idsOf(exchange: unknown): Set<TradeId> {
    if (this.#ids.size >= EXCHANGES_MAX) this.#ids.clear()
    const ids = new Set<TradeId>()
    this.#ids.set(exchange, ids)
    return ids
  }
}

/** The last trades of a symbol whose trades have no ids. */
export class RecentTrades {
  readonly #keys = new Set<string>()
  #newestMs = 0

  /** Whether it was sent before. `key` identifies a trade; `atMs` is in milliseconds since the epoch. */
  isRepeated(key: string, atMs: number): boolean {
    if (atMs < this.#newestMs - STALE_MS || isIn(this.#keys, key, RECENT)) return true
    this.#newestMs = Math.max(this.#newestMs, atMs)
    return false
  }
}

/** Whether it is in the set already; otherwise it is added, and takes the place of the oldest of `max`. */
function isIn<T>(known: Set<T>, one: T, max: number): boolean {
  const { size } = known
  known.add(one)
  if (known.size === size) return true
  if (size >= max)
    for (const oldest of known) {
      known.delete(oldest)
      break
    }
  return false
}
