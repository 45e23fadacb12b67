/**
 * Replacements that were answered before they happened, while the fault `slow` is set: each has an id at once, as at Alpaca, and becomes an
 * order, or is rejected, later.
 */

import { minus, parseDecimal } from '@trunkline/core/domain/decimal'
import type { OrderView } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { firstWire, type OrderWire, type Showing } from './order-wire.ts'
import { nanosOf, uuidFor } from './values.ts'

/** Replacements remembered; the oldest are dropped. */
const PENDING_MAX = 1_000

export interface WantedReplacement {
  readonly clientOrderId: string
  /** Of the replacement alone. */
  readonly quantity: string | null
  readonly limit: string | null
  readonly stop: string | null
}

interface PendingReplacement {
  readonly login: string
  readonly replaces: string
  wire: OrderWire
  /** The internal id, once it is an order. */
  orderId: string | null
}

export class PendingReplacements {
  readonly #brokerage: Pick<BrokerageView, 'clock' | 'newId'>
  readonly #byId = new Map<string, PendingReplacement>()
  readonly #idOf = new Map<string, string>()

  constructor(brokerage: Pick<BrokerageView, 'clock' | 'newId'>) {
    this.#brokerage = brokerage
  }

  make(login: string, old: OrderView, showing: Showing, { clientOrderId, quantity, limit, stop }: WantedReplacement): OrderWire {
    const id = uuidFor(this.#brokerage.newId())
    const rest = minus(parseDecimal(old.quantity ?? '0', 'quantity'), parseDecimal(old.carriedQuantity, 'carried quantity'))
    const at = this.#brokerage.clock.now()
    const sizes = { quantity: quantity ?? rest, carriedQuantity: '0', stopPrice: stop ?? old.stopPrice }
    const order = { ...old, ...sizes, clientOrderId, replaces: old.orderId, acceptedAt: at, updatedAt: at }
    const wire = { ...firstWire(order, showing), id, ...(limit === null ? {} : { limit_price: limit }) }
    this.#byId.set(id, { login, replaces: old.orderId, wire, orderId: null })
    for (const [oldest, { orderId }] of this.#byId) {
      if (this.#byId.size <= PENDING_MAX) break
      this.#byId.delete(oldest)
      if (orderId !== null) this.#idOf.delete(orderId)
    }
    return wire
  }

  /** An order that replaces another was accepted. */
  came({ orderId, replaces }: OrderView): void {
    const pending = replaces === null ? undefined : this.#waitingFor(replaces)
    if (pending === undefined) return
    pending.orderId = orderId
    this.#idOf.set(orderId, pending.wire.id)
  }

  /** The order stays as it was. @returns the replacement that will not be */
  failed(orderId: string): OrderWire | undefined {
    const pending = this.#waitingFor(orderId)
    if (pending === undefined) return undefined
    pending.wire = { ...pending.wire, status: 'rejected', updated_at: nanosOf(this.#brokerage.clock.now()) }
    return pending.wire
  }

  /** One that is no order, or none yet, by its id or its client order id. */
  find(login: string, key: { readonly id: string } | { readonly client_order_id: string }): OrderWire | undefined {
    const isMeant = 'id' in key ? ({ id }: OrderWire) => id === key.id : (wire: OrderWire) => wire.client_order_id === key.client_order_id
    return this.#byId.values().find(({ login: owner, orderId, wire }) => owner === login && orderId === null && isMeant(wire))?.wire
  }

  idOf(orderId: string): string | undefined {
    return this.#idOf.get(orderId)
  }

  internalId(id: string): string | null {
    return this.#byId.get(id)?.orderId ?? null
  }

  clear(): void {
    this.#byId.clear()
    this.#idOf.clear()
  }

  #waitingFor(replaced: string): PendingReplacement | undefined {
    return this.#byId
      .values()
      .find(({ replaces, orderId, wire }) => replaces === replaced && orderId === null && wire.status !== 'rejected')
  }
}
