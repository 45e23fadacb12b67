// When a broker's "no such order" proves that it does not have an order. A look-up that may have come too early does not count.
import type { OrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { type Timestamp, tradingDay } from '../../domain/timestamp.ts'
import type { Deps } from '../deps.ts'
import type { InFlightCommands } from '../execution/in-flight-commands.ts'
import { NOT_APPLIED, notReceived, type SubmissionFailure } from '../execution/order-steps.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import type { TakenRequests } from '../execution/taken-requests.ts'

export const NEGATIVES_MIN = 4
/** How long a broker may take to carry out a cancel or replace that it accepted. Until then, only its own refusal ends the request. */
export const TAKEN_MS = 300_000

/** Look-ups in a row that did not find an order, and when the first was. */
export interface Negatives {
  readonly of: OrderId
  readonly count: number
  readonly since: number
}

/** When a look-up was sent (monotonic clock), and the time that its answer describes. */
export interface Lookup {
  readonly requestedMs: number
  readonly asOf: Timestamp
}

export class Absence {
  readonly #deps: Pick<Deps, 'clock' | 'timing' | 'brokers'>
  readonly #orderWriter: OrderWriter
  readonly #commands: InFlightCommands
  readonly #taken: TakenRequests

  constructor(
    deps: Pick<Deps, 'clock' | 'timing' | 'brokers'>,
    parts: { readonly orderWriter: OrderWriter; readonly commands: InFlightCommands; readonly taken: TakenRequests }
  ) {
    this.#deps = deps
    this.#orderWriter = parts.orderWriter
    this.#commands = parts.commands
    this.#taken = parts.taken
  }

  /**
   * Counts a negative look-up if it was sent at least `settleMs` after the submission ended, so that the order would be visible. Both times
   * are on the monotonic clock; the watch starts after the submission has ended.
   */
  counted(order: Order, { asOf, requestedMs }: Lookup, negatives: Negatives): Negatives {
    const now = this.#deps.clock.monotonicMs()
    const before = negatives.of === order.orderId ? negatives : { of: order.orderId, count: 0, since: now }
    if (this.#commands.isSending(order)) return { of: order.orderId, count: 0, since: now }
    const isEarly = before.count === 0 && requestedMs < before.since + this.#deps.timing.settleMs
    if (isEarly || !this.#showsAbsence(order, asOf)) return before
    return { of: order.orderId, count: before.count + 1, since: before.count === 0 ? now : before.since }
  }

  /**
   * With deduplication `label`, an order is searched in a list that may cover the current day only. In-place replacements show in the order
   * itself.
   */
  #showsAbsence({ broker, entryTime, replacesOrderId }: Order, asOf: Timestamp): boolean {
    const { deduplication, replacedOrderId } = this.#deps.brokers.get(broker)?.capabilities ?? {}
    const isListed = deduplication === 'label' && (replacesOrderId === null || replacedOrderId === 'new')
    return !isListed || tradingDay(asOf) === tradingDay(entryTime)
  }

  /** The failure to record if enough look-ups have proved the order absent; null otherwise. */
  async failureOf(order: Order, negatives: Negatives): Promise<SubmissionFailure | null> {
    const absenceMs = this.provedMs(order)
    // Without a client order id at the broker, an absent order looks like one whose record differs: only an operator decides.
    if (absenceMs === null) return null
    const spread = this.#deps.clock.monotonicMs() - negatives.since
    if (negatives.count < NEGATIVES_MIN || spread < absenceMs) return null
    const before = order.replacesOrderId === null ? null : await this.#orderWriter.find(order.replacesOrderId)
    const takenMs = before?.pendingRequest?.successorId === order.orderId ? this.#taken.takenMs(before) : null
    if (takenMs === null) return notReceived(order.replacesOrderId === null ? 'order' : 'modification')
    // The broker accepted the replace but has not carried it out: absence proves nothing until TAKEN_MS is over.
    return takenMs > TAKEN_MS ? NOT_APPLIED : null
  }

  /** How long look-ups must not find an order before it counts as absent, in milliseconds; null: it never does. */
  provedMs({ broker, replacesOrderId }: Order): number | null {
    const capabilities = this.#deps.brokers.get(broker)?.capabilities
    const { absenceMs } = this.#deps.timing
    const kind = capabilities?.deduplication ?? 'none'
    // An in-place replacement shows in the order that it replaces.
    if (replacesOrderId !== null && (kind === 'none' || capabilities?.replacedOrderId === 'same')) return absenceMs.enforced
    return kind === 'none' ? null : absenceMs[kind]
  }
}
