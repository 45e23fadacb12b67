/** Ids of the trades of a symbol, so that one sent twice counts once. */

/** Ids that are remembered of an exchange. */
const REMEMBERED = 256
/** More than there are. */
const EXCHANGES_MAX = 64

type TradeId = string | number | bigint

export class TradeIds {
  /** By exchange: each gives its own ids, for a day. */
  readonly #ids = new Map<unknown, Set<TradeId>>()

  /** Whether the trade was sent before; without an id this cannot be known. */
  isRepeated(id: unknown, exchange: unknown): boolean {
    if (typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'bigint') return false
    const ids = this.#ids.get(exchange) ?? this.#idsOf(exchange)
    const { size } = ids
    ids.add(id)
    if (ids.size === size) return true
    if (size >= REMEMBERED)
      for (const oldest of ids) {
        ids.delete(oldest)
        break
      }
    return false
  }

  #idsOf(exchange: unknown): Set<TradeId> {
    if (this.#ids.size >= EXCHANGES_MAX) this.#ids.clear()
    const ids = new Set<TradeId>()
    this.#ids.set(exchange, ids)
    return ids
  }
}
