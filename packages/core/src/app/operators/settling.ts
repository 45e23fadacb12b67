// Ending orders that a broker never received, by an operator's decision: on the command line and by the API for operators alike.
import { ServiceError } from '../../domain/errors.ts'
import type { BrokerId, ConnectionId, OrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { epochMs, type Timestamp, timestampOfMs } from '../../domain/timestamp.ts'
import type { AuditEntry } from '../../ports/store.ts'
import type { Deps } from '../deps.ts'
import { NotSettled, SettlingInterrupted, type settlingOver } from '../orders/settle-order.ts'
import type { OperatorEntries } from './disabling.ts'

const HOUR_MS = 3_600_000
/** The most orders of a set. */
export const SET_ORDERS_MAX = 1_000

export interface SettlingPorts {
  readonly clock: Pick<Deps['clock'], 'now'>
  readonly store: { readonly orders: Pick<Deps['store']['orders'], 'find' | 'unresolved'> }
  readonly settling: ReturnType<typeof settlingOver>
  /** Names a set of orders by their ids, in whatever order they are given: 16 hexadecimal digits. */
  readonly nameOfSet: (orderIds: readonly OrderId[]) => string
}

export interface Reasons {
  /** How the operator knows; written to the audit log. */
  readonly because: string
  /** The broker cannot be asked; the operator checked its records by other means. */
  readonly isUnseen: boolean
}

/** Ends an order that the broker never received. @throws ServiceError order_not_found, order_not_settled: nothing was done */
export async function endNeverReceived(
  { store, settling }: SettlingPorts,
  orderId: OrderId,
  { because, isUnseen }: Reasons,
  entryOf: OperatorEntries,
  signal: AbortSignal
): Promise<Order> {
  if ((await store.orders.find(orderId)) === null)
    throw new ServiceError('order_not_found', `There is no order ${orderId}; its connection may have been removed.`)
  const audit = entryOf('order.never_received', orderId, { because, unseen: isUnseen })
  try {
    return await settling.settle(orderId, { isUnseen, audit }, signal)
  } catch (cause) {
    throw cause instanceof NotSettled ? new ServiceError('order_not_settled', cause.message, { cause }) : cause
  }
}

/** Which unresolved orders: at least one of the three is given. */
export interface SetFilter {
  readonly broker: BrokerId | null
  readonly connectionId: ConnectionId | null
  readonly olderThanHours: number | null
}

export interface WantedSet extends SetFilter, Reasons {
  /** The set that a trial named; null: a trial, which ends nothing. */
  readonly expected: string | null
}

export interface EndedSet {
  /** The number of unresolved orders that match, at most {@link SET_ORDERS_MAX}. */
  readonly fitting: number
  /** Names the set of `orders`. */
  readonly set: string
  /** The orders that were ended or, in a trial, would be. */
  readonly orders: readonly Order[]
  readonly kept: readonly { readonly orderId: OrderId; readonly why: string }[]
}

/**
 * Ends every unresolved order that matches, with one audit entry. Without `expected` it is a trial: it ends nothing, and returns the orders
 * that would be ended.
 * @throws ServiceError field_invalid without a filter; order_not_settled if the set has changed, or something failed while it was ended
 */
export async function endSetNeverReceived(
  { store, clock, settling, nameOfSet }: SettlingPorts,
  { broker, connectionId, olderThanHours, expected, because, isUnseen }: WantedSet,
  entryOf: OperatorEntries,
  signal: AbortSignal
): Promise<EndedSet> {
  if (broker === null && connectionId === null && olderThanHours === null) throw withoutFilter()
  const found = await store.orders.unresolved(SET_ORDERS_MAX, {
    ...(broker !== null && { broker }),
    ...(connectionId !== null && { connectionId }),
    ...(olderThanHours !== null && { enteredBefore: hoursAgo(clock, olderThanHours) })
  })
  const setOf = (orders: readonly Order[]) => nameOfSet(orders.map(({ orderId }) => orderId))
  const target = connectionId ?? broker ?? 'orders'
  const entry = (orders: readonly Order[]): AuditEntry => {
    const set = setOf(orders)
    if (set !== expected)
      throw new ServiceError(
        'order_not_settled',
        `The orders have changed since set ${expected} was listed: ${orders.length} would be ended now (set ${set}). Nothing was changed. List them again.`
      )
    const named = { because, unseen: isUnseen, broker, connection_id: connectionId, older_than_hours: olderThanHours }
    return entryOf('orders.never_received', target, { ...named, count: orders.length, orders: textOf(orders) })
  }
  const skippedEntry = (orderIds: readonly OrderId[]) =>
    entryOf('orders.not_ended', target, { because, set: expected, count: orderIds.length, orders: orderIds.join(' ') }, 'refused')
  const ids = found.map(({ orderId }) => orderId)
  const verdict = { isUnseen, entry: expected === null ? null : entry, skippedEntry }
  const { orders, skipped: kept } = await settling.settleAll(ids, verdict, signal).catch(cause => {
    throw cause instanceof SettlingInterrupted ? new ServiceError('order_not_settled', cause.message, { cause }) : cause
  })
  return { fitting: found.length, set: setOf(orders), orders, kept }
}

function hoursAgo(clock: Pick<Deps['clock'], 'now'>, hours: number): Timestamp {
  return timestampOfMs(epochMs(clock.now()) - hours * HOUR_MS)
}

function textOf(orders: readonly Order[]): string {
  return orders.map(({ orderId }) => orderId).join(' ')
}

function withoutFilter(): ServiceError {
  const message = 'is required, or connection_id, or older_than_hours'
  return new ServiceError('field_invalid', `broker ${message}: they select the orders.`, { details: [{ path: 'broker', message }] })
}

/** An order whose connection was removed before the broker reported its outcome. The audit log has the only record of it. */
export interface AbandonedOrder {
  readonly orderId: string
  readonly removedAt: Timestamp
  /** The detail of the audit entry `order.abandoned`. */
  readonly detail: AuditEntry['detail']
}

/** The entries about abandoned orders, the newest first. */
export interface AbandonedEntries {
  ofAbandoned(limit: number): Promise<readonly AuditEntry[]>
}

/** The most entries that are read. An order has two, a replacement more. */
const ENTRIES_MAX = 5_000
const ABANDONED_HOURS = 30 * 24

/**
 * Orders on connections that were removed in the last 30 days before the broker reported the orders' outcome, newest first. The service can
 * no longer look them up.
 */
export async function abandonedOrders(
  { audit, clock }: { readonly audit: AbandonedEntries; readonly clock: Pick<Deps['clock'], 'now'> },
  limit: number
): Promise<readonly AbandonedOrder[]> {
  const since = hoursAgo(clock, ABANDONED_HOURS)
  const entries = (await audit.ofAbandoned(ENTRIES_MAX)).filter(({ at }) => at >= since)
  const answered = new Set(entries.filter(isAnswer).map(({ target }) => target))
  return entries
    .filter(({ action, target }) => action === 'order.abandoned' && !answered.has(target))
    .slice(0, limit)
    .map(({ at, target, detail }) => ({ orderId: target, removedAt: at, detail }))
}

/** Whether the entry is a late answer of the broker that shows the order's outcome. */
function isAnswer({ action, detail }: AuditEntry): boolean {
  return action === 'order.answered_late' && detail.outcome !== 'unknown'
}
