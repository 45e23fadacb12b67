// When a broker's "I have no such order" proves that it has none. What was seen is never held against an order that may only be late.
import type { OrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { type Timestamp, tradingDay } from '../../domain/timestamp.ts'
import type { Deps } from '../deps.ts'
import type { OrderGateway } from './order-gateway.ts'
import { NOT_APPLIED, notReceived, type SubmissionFailure } from './order-steps.ts'
import type { OrderWriter } from './order-writer.ts'

export const NEGATIVES_MIN = 4
/** So long may a broker be slow with a cancel or replace that it took: until then only its own refusal ends the request. */
export const TAKEN_MS = 300_000

/** Clean negative answers about one order, spread over time. */
export interface Negatives {
  readonly of: OrderId
  readonly count: number
  readonly since: number
}

/** When an answer was requested, on the monotonic clock, and the day it is of. */
export interface Lookup {
  readonly requestedMs: number
  readonly asOf: Timestamp
}

export class Absence {
  readonly #deps: Pick<Deps, 'clock' | 'timing' | 'brokers'>
  readonly #orderWriter: OrderWriter
  readonly #gateway: OrderGateway

  constructor(
    deps: Pick<Deps, 'clock' | 'timing' | 'brokers'>,
    parts: { readonly orderWriter: OrderWriter; readonly gateway: OrderGateway }
  ) {
    this.#deps = deps
    this.#orderWriter = parts.orderWriter
    this.#gateway = parts.gateway
  }

  /**
   * A negative answer counts when it was asked for long enough after the sending that the order would be there. Both are on the monotonic clock:
   * the sending had ended when the watch began.
   */
  counted(order: Order, { asOf, requestedMs }: Lookup, negatives: Negatives): Negatives {
    const now = this.#deps.clock.monotonicMs()
    const before = negatives.of === order.orderId ? negatives : { of: order.orderId, count: 0, since: now }
    if (this.#gateway.isSending(order)) return { of: order.orderId, count: 0, since: now }
    const isEarly = before.count === 0 && requestedMs < before.since + this.#deps.timing.settleMs
    if (isEarly || !this.#showsAbsence(order, asOf)) return before
    return { of: order.orderId, count: before.count + 1, since: before.count === 0 ? now : before.since }
  }

  /** An id that is only a label is looked for in a list, which may be of the present day alone. A change of an order shows in that very order. */
  #showsAbsence({ broker, entryTime, replacesOrderId }: Order, asOf: Timestamp): boolean {
    const { deduplication, replacedOrderId } = this.#deps.brokers.get(broker)?.capabilities ?? {}
    const isListed = deduplication === 'label' && (replacesOrderId === null || replacedOrderId === 'new')
    return !isListed || tradingDay(asOf) === tradingDay(entryTime)
  }

  /** The order's outcome where enough look-ups have shown that the broker does not have it; null while it may. */
  async failureOf(order: Order, negatives: Negatives): Promise<SubmissionFailure | null> {
    const absenceMs = this.provedMs(order)
    // Without an id at the broker, absence cannot be distinguished from an order that looks different: an operator decides.
    if (absenceMs === null) return null
    const spread = this.#deps.clock.monotonicMs() - negatives.since
    if (negatives.count < NEGATIVES_MIN || spread < absenceMs) return null
    const before = order.replacesOrderId === null ? null : await this.#orderWriter.find(order.replacesOrderId)
    const takenMs = before?.pendingRequest?.successorId === order.orderId ? this.#gateway.takenMs(before) : null
    if (takenMs === null) return notReceived(order.replacesOrderId === null ? 'order' : 'modification')
    // The broker has the request, and has not made the change yet: that it does not show it proves nothing before the bound.
    return takenMs > TAKEN_MS ? NOT_APPLIED : null
  }

  /** How long look-ups have to say no until an order counts as absent; null: for ever. */
  provedMs({ broker, replacesOrderId }: Order): number | null {
    const capabilities = this.#deps.brokers.get(broker)?.capabilities
    const { absenceMs } = this.#deps.timing
    const kind = capabilities?.deduplication ?? 'none'
    // A change of an order that is there shows in that very order.
    if (replacesOrderId !== null && (kind === 'none' || capabilities?.replacedOrderId === 'same')) return absenceMs.enforced
    return kind === 'none' ? null : absenceMs[kind]
  }
}
