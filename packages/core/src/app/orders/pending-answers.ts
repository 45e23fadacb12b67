// Which answers of its broker an order waits for, and what can be requested of it meanwhile. Pure.
import { isOpen, type Order, type PendingRequest } from '../../domain/order.ts'
import type { Timestamp } from '../../domain/timestamp.ts'
import type { OrderReport } from '../../ports/broker.ts'
import { acknowledged, cancelRequested, held, isChanging } from './order-steps.ts'
import type { Next, OrderWriter } from './order-writer.ts'

/** Identifies the pending answer of an order: to its submission, or to one cancel or replace. Two of them may be of the same moment. */
export function pendingAnswerOf(order: Order): string {
  const { pendingRequest } = order
  if (!acknowledged(order)) return 'submission'
  if (pendingRequest === null) return isChanging(order) ? `${order.status} asked for elsewhere` : 'nothing'
  return `${canTakeCancel(order) ? 'waiting ' : ''}${requestName(pendingRequest)}`
}

/**
 * Identifies the requests of one order, by what was requested and at which revision, since the clock may show the same time for two. A cancel
 * that is due again for the order that works is another one.
 */
export function requestName({ kind, requestedAt, sentAt, successorId, ofRevision }: PendingRequest): string {
  return `${kind} ${successorId} ${ofRevision ?? `${requestedAt} ${sentAt}`}`
}

/** Whether the broker has yet to confirm the order, or the cancel or replace that was requested here. */
export function awaitsBroker(order: Order): boolean {
  if (!isOpen(order.status)) return false
  return !acknowledged(order) || (order.pendingRequest !== null && order.pendingRequest.takenAt === null)
}

/** Whether a cancel was asked for before the broker was known to have the order, and can go out now that it is. */
export function hasWaitingCancel(order: Order): boolean {
  return order.pendingRequest?.kind === 'cancel' && order.pendingRequest.sentAt === null && acknowledged(order)
}

export function canTakeCancel(order: Order): boolean {
  return hasWaitingCancel(order) && isOpen(order.status) && !isChanging(order)
}

/**
 * Makes a waiting cancel one that is asked for. Where the broker has not shown the order working, its cancel may come too early: `sentAt` stays
 * null, and it is due again when the order is seen to work.
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

/** Where the broker shows the order live long after every cancel we may send has ended, the cancel came to nothing. */
export function uncancelled(found: OrderReport): OrderReport {
  return { ...found, releases: true, brokerMessage: found.brokerMessage ?? 'The broker did not cancel the order; ask for it again.' }
}
