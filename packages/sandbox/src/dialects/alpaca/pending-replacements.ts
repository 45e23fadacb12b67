/**
 * Replacements that were answered before they happened, while the fault `slow` is set: each has an id at once, as at Alpaca, and becomes an
 * order, or is rejected, later.
 */

import { minus, parseDecimal } from '@trunkline/core/domain/decimal'
import type { Micros, OrderView } from '../frame/brokerage.ts'
import { uuidFor } from './ids.ts'
import { firstWire, type OrderWire, type Showing } from './order-wire.ts'
import { nanosOf } from './times.ts'

/** Replacements remembered; the oldest are dropped. */
const PENDING_MAX = 10_000

export interface PendingReplacementsDeps {
  readonly now: () => Micros
  readonly newId: () => string
  readonly showing: (order: OrderView) => Showing
}

export interface Wanted {
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
  readonly #deps: PendingReplacementsDeps
  readonly #byId = new Map<string, PendingReplacement>()
  readonly #idOf = new Map<string, string>()
  /** By the id of the order that is to be replaced. */
  readonly #waiting = new Map<string, PendingReplacement>()

  constructor(deps: PendingReplacementsDeps) {
    this.#deps = deps
  }

  make(login: string, old: OrderView, wanted: Wanted): OrderWire {
    const id = uuidFor(this.#deps.newId())
    const carried = minus(parseDecimal(old.quantity ?? '0', 'quantity'), parseDecimal(old.carriedQuantity, 'carried quantity'))
    const at = this.#deps.now()
    const order: OrderView = {
      ...old,
      clientOrderId: wanted.clientOrderId,
      quantity: wanted.quantity ?? carried,
      carriedQuantity: '0',
      stopPrice: wanted.stop ?? old.stopPrice,
      replaces: old.orderId,
      acceptedAt: at,
      updatedAt: at
    }
    const wire = { ...firstWire(order, this.#deps.showing(old)), id }
    const pending: PendingReplacement = {
      login,
      replaces: old.orderId,
      wire: wanted.limit === null ? wire : { ...wire, limit_price: wanted.limit },
      orderId: null
    }
    this.#byId.set(id, pending)
    this.#waiting.set(old.orderId, pending)
    this.#trim()
    return pending.wire
  }

  /** An order that replaces another was accepted. */
  came({ orderId, replaces }: OrderView): void {
    const pending = replaces === null ? undefined : this.#waiting.get(replaces)
    if (pending === undefined || replaces === null) return
    pending.orderId = orderId
    this.#idOf.set(orderId, pending.wire.id)
    this.#waiting.delete(replaces)
  }

  /** The order stays as it was. @returns the replacement that will not be */
  failed(orderId: string): OrderWire | undefined {
    const pending = this.#waiting.get(orderId)
    if (pending === undefined) return undefined
    this.#waiting.delete(orderId)
    const at = nanosOf(this.#deps.now())
    pending.wire = { ...pending.wire, status: 'rejected', failed_at: at, updated_at: at }
    return pending.wire
  }

  /** One that is no order, or none yet. */
  byId(login: string, id: string): OrderWire | undefined {
    const pending = this.#byId.get(id)
    return pending?.login === login && pending.orderId === null ? pending.wire : undefined
  }

  byClientOrderId(login: string, clientOrderId: string): OrderWire | undefined {
    for (const { login: owner, wire, orderId } of this.#byId.values())
      if (owner === login && orderId === null && wire.client_order_id === clientOrderId) return wire
    return undefined
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
    this.#waiting.clear()
  }

  #trim(): void {
    for (const [id, { orderId, replaces }] of this.#byId) {
      if (this.#byId.size <= PENDING_MAX) return
      this.#byId.delete(id)
      this.#waiting.delete(replaces)
      if (orderId !== null) this.#idOf.delete(orderId)
    }
  }
}
