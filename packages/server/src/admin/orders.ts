import { createHash } from 'node:crypto'
import { NotSettled, SettlingInterrupted } from '@trunkline/core/app/orders/settle-order'
import { type ConnectionId, type OrderId, parseBrokerId, parseUuid } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { AuditEntry } from '@trunkline/core/ports/store'
import { type AdminDeps, operatorEntry } from './deps.ts'
import {
  type AbandonedOrder,
  AdminRefused,
  ORDERS_LIMIT_MAX,
  type Run,
  type SettledOrders,
  type SettleOrder,
  type SettleOrders,
  type UnresolvedOrder
} from './operations.ts'

const HOUR_MS = 3_600_000
const NO_SERVICE = 'No service runs on this data directory, and only a running service can ask the broker. Start it, and run this again.'

/** Open orders that may never have reached the broker, oldest first. */
export async function listUnresolved({ store }: AdminDeps, { limit }: { readonly limit: number }): Promise<readonly UnresolvedOrder[]> {
  return (await store.orders.unresolved(limit)).map(view)
}

/** The most audit entries about abandoned orders that are read. An order has two entries, a replacement more. */
const ENTRIES_MAX = 5_000
const ABANDONED_HOURS = 30 * 24

/**
 * Orders on connections that were removed in the last 30 days before the broker reported the orders' outcome, newest first. The service can
 * no longer look them up.
 */
export async function listAbandoned(
  { store, clock }: AdminDeps,
  { limit }: { readonly limit: number }
): Promise<readonly AbandonedOrder[]> {
  const since = timestampOfMs(epochMs(clock.now()) - ABANDONED_HOURS * HOUR_MS)
  const entries = (await store.audit.ofAbandoned(ENTRIES_MAX)).filter(({ at }) => at >= since)
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

/** Ends an order that the broker never received. @throws AdminRefused */
export async function settleOrder(deps: AdminDeps, { orderId, because, unseen }: SettleOrder, run: Run): Promise<UnresolvedOrder> {
  if (deps.settle === null) throw new AdminRefused(NO_SERVICE)
  const audit = operatorEntry(deps.clock.now(), run, 'order.never_received', orderId, { because, unseen })
  try {
    return view(await deps.settle(orderId as OrderId, { isUnseen: unseen, audit }, run.signal))
  } catch (cause) {
    throw cause instanceof NotSettled ? new AdminRefused(cause.message, { cause }) : cause
  }
}

/**
 * Ends every unresolved order that matches, with one audit entry. Without `expected` it is a dry run: it ends nothing and returns the
 * orders that would be ended. @throws AdminRefused
 */
export async function settleOrders(deps: AdminDeps, wanted: SettleOrders, run: Run): Promise<SettledOrders> {
  const { broker, connectionId, olderThanHours, expected, because, unseen } = wanted
  if (deps.settleAll === null) throw new AdminRefused(NO_SERVICE)
  if (broker === null && connectionId === null && olderThanHours === null)
    throw new AdminRefused(
      'Select the orders: of one broker (--broker), of one connection (--connection), or older than some hours (--older-than).'
    )
  const fitting = await deps.store.orders.unresolved(ORDERS_LIMIT_MAX, {
    ...(broker === null ? {} : { broker: parseBrokerId(broker) }),
    ...(connectionId === null ? {} : { connectionId: parseUuid<ConnectionId>(connectionId, 'connection_id') }),
    ...(olderThanHours === null ? {} : { enteredBefore: timestampOfMs(epochMs(deps.clock.now()) - olderThanHours * HOUR_MS) })
  })
  const detail = { because, unseen, broker, connection_id: connectionId, older_than_hours: olderThanHours }
  const entry = (orders: readonly Order[]) => {
    const set = setOf(orders)
    if (set !== expected)
      throw new AdminRefused(
        `The orders have changed since set ${expected} was listed: ${orders.length} would be ended now (set ${set}). Nothing was changed. List them again.`
      )
    const named = { ...detail, count: orders.length, orders: orders.map(({ orderId }) => orderId).join(' ') }
    return operatorEntry(deps.clock.now(), run, 'orders.never_received', connectionId ?? broker ?? 'orders', named)
  }
  const target = connectionId ?? broker ?? 'orders'
  const skippedEntry = (orderIds: readonly OrderId[]) => {
    const named = { because, set: expected, count: orderIds.length, orders: orderIds.join(' ') }
    return operatorEntry(deps.clock.now(), run, 'orders.not_ended', target, named, 'refused')
  }
  const ids = fitting.map(({ orderId }) => orderId)
  const verdict = { isUnseen: unseen, entry: expected === null ? null : entry, skippedEntry }
  const { orders, skipped: kept } = await deps.settleAll(ids, verdict, run.signal).catch(cause => {
    throw cause instanceof SettlingInterrupted ? new AdminRefused(cause.message, { cause }) : cause
  })
  return { fitting: fitting.length, set: setOf(orders), orders: orders.map(view), kept }
}

/** Identifies a set of orders by their ids, regardless of sequence. */
function setOf(orders: readonly Order[]): string {
  const ids = orders.map(({ orderId }) => orderId).toSorted()
  return createHash('sha256').update(ids.join(' ')).digest('hex').slice(0, 16)
}

function view(order: Order): UnresolvedOrder {
  const { orderId, clOrdId, platformId, userId, connectionId, broker, accountNumber, entryTime, status, submission } = order
  return {
    ...{ orderId, clOrdId, platformId, userId, connectionId, broker, accountNumber, entryTime, status },
    asks: describeOrder(order),
    submission: submission.state
  }
}

/** `BUY 10 AAPL LMT 100.00 DAY`. */
function describeOrder({ side, quantity, notional, symbol, legs, type, limitPrice, stopPrice, tif }: Order): string {
  const subject = legs === null ? symbol : legs.map(leg => `${leg.side} ${leg.ratio} ${leg.symbol}`).join(' + ')
  const amount = quantity ?? (notional === null ? null : `for ${notional}`)
  return [side, amount, subject, type, limitPrice, stopPrice === null ? null : `stop ${stopPrice}`, tif]
    .filter(part => part !== null)
    .join(' ')
}
