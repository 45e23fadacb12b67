/**
 * The legs of multi-leg orders as they were last sent. A message may repeat one leg in the place of another, in any order (recorded in
 * Lean.Brokerages.TradeStation, pull request 25): a leg counts once, and one that is missing is as it was before.
 */

import { BoundedMap } from '../kit/bounded-cache.ts'
import { field, text, type Wire } from '../kit/parse.ts'
import { records } from './answers.ts'

/** Orders remembered; of an older one only the legs of its message are known. */
const ORDERS_MAX = 10_000

export interface Completed {
  readonly order: Wire
  /** A leg was repeated or missing, so the order should be read again before it is believed. */
  readonly isPartial: boolean
}

export class KnownLegs {
  readonly #legs = new BoundedMap<ReadonlyMap<string, Wire>>(ORDERS_MAX)

  /** @throws Malformed */
  completed(order: Wire): Completed {
    const id = text(order, 'OrderID', 64)
    const sent = records(order, 'Legs')
    const known = this.#legs.get(id)
    if (sent.length < 2 && known === undefined) return { order, isPartial: false }
    const own = new Map(sent.map(leg => [keyOf(leg), leg]))
    const all = new Map([...(known ?? []), ...own])
    if (all.size > 1) this.#legs.put(id, all)
    const isPartial = own.size < sent.length || own.size < all.size
    return isPartial ? { order: { ...order, Legs: [...all.values()] }, isPartial } : { order, isPartial }
  }
}

/** Symbol and side; the spelling of sides varies. */
function keyOf(leg: Wire): string {
  return ['Symbol', 'BuyOrSell', 'OpenOrClose'].map(key => String(field(leg, key)).toUpperCase()).join(' ')
}
