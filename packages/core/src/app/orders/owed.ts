// What an order is owed by its broker, and what can be asked of it meanwhile. Pure.
import type { Order } from '../../domain/order.ts'
import type { OrderReport } from '../../ports/broker.ts'
import { acknowledged, isChanging } from './order-steps.ts'

/** Tells apart what an order may be owed: an answer to its submission, or to the cancel or replace of one moment. */
export function questionOf(order: Order): string {
  const { pendingRequest } = order
  if (!acknowledged(order)) return 'submission'
  if (pendingRequest === null) return isChanging(order) ? `${order.status} asked for elsewhere` : 'nothing'
  return `${canTakeCancel(order) ? 'waiting ' : ''}${pendingRequest.kind} ${pendingRequest.requestedAt}`
}

/** Whether a cancel was asked for before the broker was known to have the order, and can go out now that it is. */
export function hasWaitingCancel(order: Order): boolean {
  return order.pendingRequest?.kind === 'cancel' && order.pendingRequest.sentAt === null && acknowledged(order)
}

export function canTakeCancel(order: Order): boolean {
  return hasWaitingCancel(order) && (order.status === 'working' || order.status === 'partially_filled')
}

/** Where the broker shows the order live long after every cancel we may send has ended, the cancel came to nothing. */
export function uncancelled(found: OrderReport): OrderReport {
  return { ...found, releases: true, brokerMessage: found.brokerMessage ?? 'The broker did not cancel the order; ask for it again.' }
}
