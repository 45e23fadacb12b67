import { NotSettled } from '@trunkline/core/app/orders/settle-order'
import type { OrderId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { type AdminDeps, operatorEntry } from './deps.ts'
import { AdminRefused, type Run, type SettleOrder, type UnresolvedOrder } from './operations.ts'

/** Open orders that the broker is not known to have, the oldest first. */
export async function listUnresolved({ store }: AdminDeps, { limit }: { readonly limit: number }): Promise<readonly UnresolvedOrder[]> {
  return (await store.orders.doubtful(limit)).map(view)
}

/** Ends an order that the broker never received. @throws AdminRefused */
export async function settleOrder(deps: AdminDeps, { orderId, because, unseen }: SettleOrder, run: Run): Promise<UnresolvedOrder> {
  if (deps.settle === null)
    throw new AdminRefused('No service runs on this data directory, and only a service can ask the broker. Start it, and run this again.')
  const audit = operatorEntry(deps.clock.now(), run, 'order.never_received', orderId, { because, unseen })
  try {
    return view(await deps.settle(orderId as OrderId, { isUnseen: unseen, audit }, run.signal))
  } catch (cause) {
    throw cause instanceof NotSettled ? new AdminRefused(cause.message, { cause }) : cause
  }
}

function view(order: Order): UnresolvedOrder {
  const { orderId, clOrdId, platformId, userId, connectionId, broker, accountNumber, entryTime, status, submission } = order
  return {
    ...{ orderId, clOrdId, platformId, userId, connectionId, broker, accountNumber, entryTime, status },
    asks: asks(order),
    submission: submission.state
  }
}

/** `BUY 10 AAPL LMT 100.00 DAY`. */
function asks({ side, quantity, notional, symbol, legs, type, limitPrice, stopPrice, tif }: Order): string {
  const subject = legs === null ? symbol : legs.map(leg => `${leg.side} ${leg.ratio} ${leg.symbol}`).join(' + ')
  const amount = quantity ?? (notional === null ? null : `for ${notional}`)
  return [side, amount, subject, type, limitPrice, stopPrice === null ? null : `stop ${stopPrice}`, tif]
    .filter(part => part !== null)
    .join(' ')
}
