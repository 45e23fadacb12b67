import type { OrderId } from '../../domain/ids.ts'
import { isOpen, type Order } from '../../domain/order.ts'
import { epochMs } from '../../domain/timestamp.ts'
import type { Clock } from '../../ports/clock.ts'
import { setBounded } from '../bounded-map.ts'
import type { OrderWriter } from './order-writer.ts'
import { requestName } from './pending-answers.ts'

/** Most orders with a noted acceptance. Beyond it the oldest is dropped; its time then starts again, and the order is waited for longer. */
const TAKEN_MAX = 50_000

/** Cancels and replaces that brokers accepted without showing yet what came of them. */
export class TakenRequests {
  readonly #clock: Clock
  readonly #orderWriter: OrderWriter
  /** Which cancel or replace of an order, and since when on the monotonic clock. */
  readonly #taken = new Map<OrderId, { readonly request: string; readonly atMs: number }>()
  /** Of orders whose replacement is pending: when the cancel that their broker accepted was requested. */
  readonly #stopped = new Map<OrderId, string>()
  readonly #startMs: number

  constructor(clock: Clock, orderWriter: OrderWriter) {
    this.#clock = clock
    this.#orderWriter = orderWriter
    this.#startMs = clock.monotonicMs()
  }

  /** Notes that the broker took the pending request of `requested`, unless another one is pending by now. */
  async note(requested: Order): Promise<void> {
    const present = await this.#orderWriter.find(requested.orderId)
    const { orderId, pendingRequest } = requested
    if (pendingRequest === null || present === null || !isSameRequest(present, requested)) return
    setBounded(this.#taken, orderId, { request: requestName(pendingRequest), atMs: this.#clock.monotonicMs() }, TAKEN_MAX)
  }

  /** Stores the same for the next process. A request that has ended needs no note. */
  async store(requested: Order): Promise<void> {
    const at = this.#clock.now()
    await this.#orderWriter.change(requested.orderId, present => {
      const { pendingRequest } = present
      if (pendingRequest === null || pendingRequest.takenAt !== null) return null
      if (!isSameRequest(present, requested) || !isOpen(present.status)) return null
      return { order: { ...present, pendingRequest: { ...pendingRequest, takenAt: at } }, publish: false }
    })
  }

  forget(orderId: OrderId): void {
    this.#taken.delete(orderId)
  }

  /**
   * How long ago the broker took the order's pending request; null where it did not, or where that is unknown. What an earlier process
   * stored counts from the start of this one at the earliest: only the wall clock runs on over a restart, and it may have been set.
   */
  takenMs({ orderId, pendingRequest }: Order): number | null {
    if (pendingRequest === null) return null
    const { takenAt } = pendingRequest
    const request = requestName(pendingRequest)
    const now = this.#clock.monotonicMs()
    const known = this.#taken.get(orderId)
    if (known?.request === request) return now - known.atMs
    if (takenAt === null) return null
    const agoMs = Math.max(0, Math.min(now - this.#startMs, epochMs(this.#clock.now()) - epochMs(takenAt)))
    setBounded(this.#taken, orderId, { request, atMs: now - agoMs }, TAKEN_MAX)
    return agoMs
  }

  /** Notes that the broker took the cancel of an order whose replacement is pending. */
  noteStop({ orderId, pendingRequest }: Order): void {
    setBounded(this.#stopped, orderId, pendingRequest?.cancelRequestedAt ?? '', TAKEN_MAX)
  }

  /** Whether the broker accepted this cancel. Known to this process only: another process sends the cancel again. */
  isStopTaken({ orderId, pendingRequest }: Order): boolean {
    return pendingRequest?.cancelRequestedAt !== undefined && this.#stopped.get(orderId) === pendingRequest.cancelRequestedAt
  }
}

/** Whether both have the same request pending. */
export function isSameRequest({ pendingRequest: present }: Order, { pendingRequest: requested }: Order): boolean {
  return present !== null && requested !== null && requestName(present) === requestName(requested)
}
