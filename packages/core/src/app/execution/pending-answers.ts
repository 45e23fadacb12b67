// Which answers an order is waiting for, and what can be requested of it meanwhile. Pure, except for takeUpCancel.
import { isOpen, type Order, type PendingRequest } from '../../domain/order.ts'
import type { Timestamp } from '../../domain/timestamp.ts'
import type { OrderReport } from '../../ports/broker.ts'
import { acknowledged, cancelRequested, held, isChanging } from './order-steps.ts'
import type { Next, OrderWriter } from './order-writer.ts'

/** Names the answer that an order is waiting for: to its submission, or to one particular cancel or replace. */
export function pendingAnswerOf(order: Order): string {
  const { pendingRequest } = order
  if (!acknowledged(order)) return 'submission'
  if (pendingRequest === null) return isChanging(order) ? `${order.status} requested elsewhere` : 'nothing'
  return `${canTakeCancel(order) ? 'waiting ' : ''}${requestName(pendingRequest)}`
}

/**
 * Identifies a request of an order by its kind and the revision it was made from, because two requests may have the same timestamp. A
 * cancel that became due again for a live order has another name.
 */
export function requestName({ kind, requestedAt, sentAt, successorId, ofRevision }: PendingRequest): string {
  return `${kind} ${successorId} ${ofRevision ?? `${requestedAt} ${sentAt}`}`
}

/** Whether the broker has yet to confirm the order, or to accept a cancel or replace that was requested here. */
export function awaitsBroker(order: Order): boolean {
  if (!isOpen(order.status)) return false
  return !acknowledged(order) || (order.pendingRequest !== null && order.pendingRequest.takenAt === null)
}

/** Whether a cancel was requested before the broker was known to have the order, and can be sent now that it is. */
export function hasWaitingCancel(order: Order): boolean {
  return order.pendingRequest?.kind === 'cancel' && order.pendingRequest.sentAt === null && acknowledged(order)
}

export function canTakeCancel(order: Order): boolean {
  return hasWaitingCancel(order) && isOpen(order.status) && !isChanging(order)
}

/**
 * Makes a waiting cancel the order's pending cancel, ready to be sent. If the broker has acknowledged the order but not shown it live, it
 * may drop the cancel as too early. `sentAt` then stays null, so that the cancel becomes due again when the order is reported live.
 */
export async function takeUpCancel(orderWriter: OrderWriter, { orderId, status }: Order, at: Timestamp): Promise<Order | null> {
  const isEarly = status === 'pending'
  if (isEarly)
    await orderWriter.change(orderId, present =>
      hasWaitingCancel(present) && held(present, at) !== present ? { order: held(present, at) } : null
    )
  return orderWriter.change(orderId, present => takenUp(present, at, isEarly))
}

function takenUp(order: Order, at: Timestamp, isEarly: boolean): Next | null {
  const next = canTakeCancel(order) ? cancelRequested({ ...order, pendingRequest: null }, at) : null
  const request = next?.order.pendingRequest ?? null
  return next !== null && request !== null && isEarly
    ? { ...next, order: { ...next.order, pendingRequest: { ...request, sentAt: null } } }
    : next
}

/**
 * A report of an order that is still live long after the last cancel: the cancel failed, and the order is released from `pending_cancel`.
 */
export function uncancelled(found: OrderReport): OrderReport {
  return {
    ...found,
    releases: true,
    brokerMessage: found.brokerMessage ?? 'The broker did not cancel the order; request the cancel again.'
  }
}
