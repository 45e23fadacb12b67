import type { UnresolvedOrder } from '../admin/operations.ts'
import { aligned, type Common, type Console, outJson } from './console.ts'
import { perform } from './operator.ts'
import { shown } from './shown.ts'

export async function listUnresolved(console: Console, { limit, json }: Common & { readonly limit: number }): Promise<void> {
  const orders = await perform(console, 'orders.unresolved', { limit })
  if (json) return outJson(console, orders.map(wire))
  if (orders.length === 0) return console.out('The brokers are known to have, or not to have, every order.\n')
  const head = ['order_id', 'since', 'submission', 'broker', 'account', 'user_id', 'asks for']
  const rows = orders.map(({ orderId, entryTime, submission, broker, accountNumber, userId, asks }) => [
    ...[orderId, entryTime.slice(0, 19).concat('Z'), submission, broker, accountNumber, userId, asks]
  ])
  console.out(aligned([head, ...rows.map(row => row.map(shown))]))
}

export async function neverReceived(
  console: Console,
  orderId: string,
  { because, unseen, json }: Common & { readonly because: string; readonly unseen?: boolean }
): Promise<void> {
  const order = await perform(console, 'orders.settle', { orderId, because, unseen: unseen === true })
  if (json) return outJson(console, wire(order))
  console.out(`${shown(order.orderId)} (${shown(order.asks)}) is ${order.status}: ${order.submission}. Its owner has been told.\n`)
}

/** The names of the API, which scripts already know. */
function wire(order: UnresolvedOrder): object {
  const { orderId, clOrdId, platformId, userId, connectionId, broker, accountNumber, asks, entryTime, status, submission } = order
  const whose = { platform_id: platformId, user_id: userId, connection_id: connectionId, broker, account_number: accountNumber }
  return { order_id: orderId, cl_order_id: clOrdId, ...whose, asks, entry_time: entryTime, normalized_status: status, submission }
}
