import { type AbandonedOrder, ORDERS_LIMIT_MAX, type UnresolvedOrder } from '../admin/operations.ts'
import { aligned, type Common, type Console, outJson } from './console.ts'
import { perform } from './operator.ts'
import { shown } from './shown.ts'

export async function listUnresolved(console: Console, { limit, json }: Common & { readonly limit: number }): Promise<void> {
  const orders = await perform(console, 'orders.unresolved', { limit })
  const abandoned = await perform(console, 'orders.abandoned', { limit })
  if (json) return outJson(console, [...orders.map(order => ({ ...wire(order), is_abandoned: false })), ...abandoned.map(wireAbandoned)])
  if (orders.length === 0 && abandoned.length === 0)
    return console.out('There are no unresolved orders. No order was abandoned in the last 30 days.\n')
  if (orders.length > 0) console.out(table(orders))
  if (abandoned.length > 0) console.out(`${orders.length > 0 ? '\n' : ''}${ABANDONED}\n\n${abandonedTable(abandoned)}`)
}

const ABANDONED =
  'Abandoned: the connection was removed before the broker reported the outcome of these orders, and the service can no longer look them up. ' +
  'Look for each one by its ids in the account at the broker, and inform the owner. They are listed for 30 days and stay in the audit log.'

function abandonedTable(orders: readonly AbandonedOrder[]): string {
  const head = ['order_id', 'removed', 'submission', 'pending request', 'broker', 'account', 'broker_order_id', 'broker_cl_ord_id', 'order']
  const rows = orders.map(({ orderId, removedAt, detail }) => [
    ...[orderId, removedAt.slice(0, 19).concat('Z'), orDash(detail.submission), orDash(detail.pending_request), orDash(detail.broker)],
    ...[orDash(detail.account_number), orDash(detail.broker_order_id), orDash(detail.broker_cl_ord_id), orderSummary(detail)]
  ])
  return aligned([head, ...rows.map(row => row.map(shown))])
}

function orDash(value: AbandonedOrder['detail'][string] | undefined): string {
  return value === null || value === undefined ? '-' : String(value)
}

function orderSummary({ side, quantity, notional, symbol, type, limit_price, stop_price, tif }: AbandonedOrder['detail']): string {
  const amount = quantity ?? (notional === null ? null : `for ${notional}`)
  return [side, amount, symbol, type, limit_price, stop_price === null ? null : `stop ${stop_price}`, tif]
    .filter(part => part !== null && part !== undefined)
    .join(' ')
}

function wireAbandoned({ orderId, removedAt, detail }: AbandonedOrder): object {
  return { order_id: orderId, is_abandoned: true, removed_at: removedAt, ...detail }
}

export async function neverReceived(
  console: Console,
  orderId: string,
  { because, unseen, json }: Common & { readonly because: string; readonly unseen?: boolean }
): Promise<void> {
  const order = await perform(console, 'orders.settle', { orderId, because, unseen: unseen === true })
  if (json) return outJson(console, wire(order))
  console.out(`${shown(order.orderId)} (${shown(order.asks)}) is ${order.status}: ${order.submission}. Its owner has been notified.\n`)
}

interface SetOptions extends Common {
  readonly because: string
  readonly broker?: string
  readonly connection?: string
  readonly olderThan?: number
  readonly unseen?: boolean
  readonly end?: string
}

/** Without `--end` a dry run: it lists the orders that would be ended, and the command that ends them. */
export async function neverReceivedAll(console: Console, options: SetOptions): Promise<void> {
  const {
    because,
    broker = null,
    connection: connectionId = null,
    olderThan: olderThanHours = null,
    unseen,
    end: expected = null
  } = options
  const input = { because, broker, connectionId, olderThanHours, unseen: unseen === true, expected }
  const { fitting, set, orders, kept } = await perform(console, 'orders.settle_all', input)
  if (options.json)
    return outJson(console, { fitting, set, is_trial: expected === null, orders: orders.map(wire), kept: kept.map(wireSkipped) })
  if (fitting === 0) return console.out('No unresolved order matches.\n')
  if (orders.length > 0) console.out(table(orders))
  for (const { orderId, why } of kept) console.out(`Kept: ${shown(orderId)}: ${shown(why)}\n`)
  if (expected !== null) return console.out(`${orders.length} of ${fitting} orders were ended. Their owners have been notified.\n`)
  const more = fitting < ORDERS_LIMIT_MAX ? '' : ' There may be more: one run checks no more than this, oldest first.'
  if (orders.length === 0) return console.out(`None of ${fitting} orders would be ended.${more}\n`)
  console.out(
    `${orders.length} of ${fitting} orders would be ended. Nothing was changed.${more} To end exactly these, run this again with --end ${set}\n`
  )
}

function wireSkipped({ orderId, why }: { readonly orderId: string; readonly why: string }): object {
  return { order_id: orderId, why }
}

function table(orders: readonly UnresolvedOrder[]): string {
  const head = ['order_id', 'since', 'submission', 'broker', 'account', 'user_id', 'order']
  const rows = orders.map(({ orderId, entryTime, submission, broker, accountNumber, userId, asks }) => [
    ...[orderId, entryTime.slice(0, 19).concat('Z'), submission, broker, accountNumber, userId, asks]
  ])
  return aligned([head, ...rows.map(row => row.map(shown))])
}

/** Uses the API's field names. */
function wire(order: UnresolvedOrder): object {
  const { orderId, clOrdId, platformId, userId, connectionId, broker, accountNumber, asks, entryTime, status, submission } = order
  const whose = { platform_id: platformId, user_id: userId, connection_id: connectionId, broker, account_number: accountNumber }
  return { order_id: orderId, cl_order_id: clOrdId, ...whose, asks, entry_time: entryTime, normalized_status: status, submission }
}
