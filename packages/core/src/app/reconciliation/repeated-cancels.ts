import { isOpen, type Order } from '../../domain/order.ts'
import type { Deps } from '../deps.ts'
import type { OrderGateway } from '../execution/order-gateway.ts'
import { isCancelRequested } from '../execution/order-steps.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import { canTakeCancel, takeUpCancel } from '../execution/pending-answers.ts'
import type { Placed } from '../execution/reconciliation.ts'
import type { TakenRequests } from '../execution/taken-requests.ts'
import { TAKEN_MS } from './absence.ts'

const CANCELS_MAX = 3
/** How long after the last cancel an order that is still live counts as not cancelled. */
const UNCANCELLED_MS = 30_000

/** How many cancels were sent again, and when the last one ended (monotonic clock). */
export interface Cancels {
  readonly count: number
  readonly lastAt: number
}

/** Sends cancels that have not gone out, or whose answer never came. A cancel adds no risk, so that it may be sent again. */
export class RepeatedCancels {
  readonly #deps: Pick<Deps, 'clock' | 'ownership'>
  readonly #parts: { readonly orderWriter: OrderWriter; readonly gateway: OrderGateway; readonly taken: TakenRequests }

  constructor(
    deps: Pick<Deps, 'clock' | 'ownership'>,
    parts: { readonly orderWriter: OrderWriter; readonly gateway: OrderGateway; readonly taken: TakenRequests }
  ) {
    this.#deps = deps
    this.#parts = parts
  }

  /** Whether an order that a look-up now reports live was not cancelled. An earlier request proves nothing about the present one. */
  isUncancelled(order: Order, cancels: Cancels): boolean {
    if (order.pendingRequest?.kind === 'replace') return false
    const takenMs = this.#parts.taken.takenMs(order)
    if (takenMs !== null) return takenMs > TAKEN_MS
    return cancels.count >= CANCELS_MAX && this.#deps.clock.monotonicMs() - cancels.lastAt > UNCANCELLED_MS
  }

  /** Sends a cancel that was not sent yet, or that was not answered. */
  async sendAgain(placed: Placed, cancels: Cancels): Promise<Cancels> {
    const fence = this.#deps.ownership.fenceOf(placed.order.userKey)
    const order = await this.#parts.orderWriter.find(placed.order.orderId)
    if (order?.status === 'pending_replace' && isCancelRequested(order)) return this.#stopAgain({ ...placed, order }, fence, cancels)
    if (order === null || order.brokerOrderId === null || order.pendingRequest?.kind !== 'cancel' || !isOpen(order.status)) return cancels
    const at = this.#deps.clock.now()
    const isDue = canTakeCancel(order)
    // A cancel that the broker accepted is sent again only if the order turns out to be live.
    if (!isDue && this.#parts.taken.takenMs(order) !== null) return cancels
    const due = isDue ? await takeUpCancel(this.#parts.orderWriter, order, at) : order
    // The first cancel of an order known to be live starts a new count: the broker may have dropped those before it as too early.
    const count = isDue ? 0 : cancels.count
    if (due?.status !== 'pending_cancel' || count >= CANCELS_MAX) return cancels
    await this.#parts.gateway.cancel({ ...placed, order: due }, isDue, fence)
    return { count: count + 1, lastAt: this.#deps.clock.monotonicMs() }
  }

  /** Sends the cancel of an order in `pending_replace` again, unless the broker accepted it. */
  async #stopAgain(placed: Placed, fence: number | null, cancels: Cancels): Promise<Cancels> {
    if (cancels.count >= CANCELS_MAX || this.#parts.taken.isStopTaken(placed.order)) return cancels
    await this.#parts.gateway.stop(placed, false, fence)
    return { count: cancels.count + 1, lastAt: this.#deps.clock.monotonicMs() }
  }
}
