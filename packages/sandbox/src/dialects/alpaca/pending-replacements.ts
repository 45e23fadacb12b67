/**
 * Replacements that were answered before they happened, while the fault `slow` is set: each has an id at once, as at Alpaca, and becomes an
 * order, or is rejected, later.
 */

import type { OrderView } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { OrderWire } from './order-wire.ts'
import { nanosOf } from './values.ts'

/** Replacements remembered; the oldest are dropped. */
const PENDING_MAX = 1_000

/** What an order is found by. */
export type OrderKey = { readonly id: string } | { readonly clientOrderId: string }

interface PendingReplacement {
  readonly login: string
  readonly replaces: string
  wire: OrderWire
  /** The internal id, once it is an order. */
  orderId: string | null
}

export class PendingReplacements {
  readonly #clock: BrokerageView['clock']
  readonly #byId = new Map<string, PendingReplacement>()
  readonly #idOf = new Map<string, string>()

  constructor({ clock }: Pick<BrokerageView, 'clock'>) {
    this.#clock = clock
  }

  add(pending: Omit<PendingReplacement, 'orderId'>): void {
    this.#byId.set(pending.wire.id, { ...pending, orderId: null })
    for (const [oldest, { orderId }] of this.#byId) {
      if (this.#byId.size <= PENDING_MAX) break
      this.#byId.delete(oldest)
      if (orderId !== null) this.#idOf.delete(orderId)
    }
  }

  /** An order that replaces another was accepted. */
  came({ orderId, replaces }: OrderView): void {
    const pending = this.#waitingFor(replaces)
    if (pending === undefined) return
    pending.orderId = orderId
    this.#idOf.set(orderId, pending.wire.id)
  }

  /** The order stays as it was. @returns the replacement that will not be */
  failed(orderId: string): OrderWire | undefined {
    const pending = this.#waitingFor(orderId)
    if (pending !== undefined) pending.wire = { ...pending.wire, status: 'rejected', updated_at: nanosOf(this.#clock.now()) }
    return pending?.wire
  }

  /** One that is no order, or none yet. */
  find(login: string, key: OrderKey): OrderWire | undefined {
    const isMeant = ({ id, client_order_id }: OrderWire) => ('id' in key ? id === key.id : client_order_id === key.clientOrderId)
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

  #waitingFor(replaced: string | null): PendingReplacement | undefined {
    return this.#byId
      .values()
      .find(({ replaces, orderId, wire }) => replaces === replaced && orderId === null && wire.status !== 'rejected')
  }
}
