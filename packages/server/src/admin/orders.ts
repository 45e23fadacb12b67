import { abandonedOrders, endNeverReceived, endSetNeverReceived, type SettlingPorts } from '@trunkline/core/app/operators/settling'
import { type ConnectionId, type OrderId, parseBrokerId, parseUuid } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { nameOfSet } from '../ops/order-set.ts'
import { type AdminDeps, entriesOf } from './deps.ts'
import {
  type AbandonedOrder,
  AdminRefused,
  asRefusal,
  type Run,
  type SettledOrders,
  type SettleOrder,
  type SettleOrders,
  type UnresolvedOrder
} from './operations.ts'

const NO_SERVICE = 'No service runs on this data directory, and only a running service can ask the broker. Start it, and run this again.'

/** Open orders that may never have reached the broker, oldest first. */
export async function listUnresolved({ store }: AdminDeps, { limit }: { readonly limit: number }): Promise<readonly UnresolvedOrder[]> {
  return (await store.orders.unresolved(limit)).map(view)
}

/** See {@link abandonedOrders}. */
export function listAbandoned(
  { store, clock }: Pick<AdminDeps, 'store' | 'clock'>,
  { limit }: { readonly limit: number }
): Promise<readonly AbandonedOrder[]> {
  return abandonedOrders({ audit: store.audit, clock }, limit)
}

/** Ends an order that the broker never received. @throws AdminRefused */
export async function settleOrder(deps: AdminDeps, { orderId, because, unseen }: SettleOrder, run: Run): Promise<UnresolvedOrder> {
  const reasons = { because, isUnseen: unseen }
  const id = parseUuid<OrderId>(orderId, 'order_id')
  return await asRefusal(async () => view(await endNeverReceived(portsOf(deps), id, reasons, entriesOf(deps, run), run.signal)))
}

/**
 * Ends every unresolved order that matches, with one audit entry. Without `expected` it is a dry run: it ends nothing and returns the
 * orders that would be ended. @throws AdminRefused
 */
export async function settleOrders(deps: AdminDeps, wanted: SettleOrders, run: Run): Promise<SettledOrders> {
  const { broker, connectionId, olderThanHours, expected, because, unseen } = wanted
  const ports = portsOf(deps)
  if (broker === null && connectionId === null && olderThanHours === null)
    throw new AdminRefused(
      'Select the orders: of one broker (--broker), of one connection (--connection), or older than some hours (--older-than).'
    )
  const set = {
    broker: broker === null ? null : parseBrokerId(broker),
    connectionId: connectionId === null ? null : parseUuid<ConnectionId>(connectionId, 'connection_id'),
    ...{ olderThanHours, expected, because, isUnseen: unseen }
  }
  return await asRefusal(async () => {
    const ended = await endSetNeverReceived(ports, set, entriesOf(deps, run), run.signal)
    return { ...ended, orders: ended.orders.map(view) }
  })
}

function portsOf({ store, clock, settling }: AdminDeps): SettlingPorts {
  if (settling === null) throw new AdminRefused(NO_SERVICE)
  return { store, clock, settling, nameOfSet }
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
