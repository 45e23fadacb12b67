// What a cancel or a modification of these seconds led to, as far as the stored orders say it. For requests without an answer.
import { areEqual } from '../../domain/decimal.ts'
import type { AccountId, OrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import type { UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import { changedTicket, type ModifyRequest } from './modify-order.ts'
import { daysAround } from './placed-order.ts'

type LookDeps = Pick<Deps, 'clock' | 'store'>

/**
 * The order if its cancel is pending or done: a repeated cancel has the same result. Null if no cancel is stored that its status shows;
 * then one may be requested again.
 */
export async function cancelledOrder(
  { store }: Pick<Deps, 'store'>,
  caller: UserCaller,
  accountId: AccountId,
  orderId: OrderId
): Promise<Order | null> {
  const order = await ownOrder(store, caller, accountId, orderId)
  return order !== null && (order.status === 'pending_cancel' || order.status === 'cancelled') ? order : null
}

/** The successor that the modification made. Null if there is none with its id and its terms: then a repetition makes it, or is refused. */
export async function modifiedOrder(
  { store, clock }: LookDeps,
  caller: UserCaller,
  accountId: AccountId,
  orderId: OrderId,
  request: ModifyRequest
): Promise<Order | null> {
  const old = await ownOrder(store, caller, accountId, orderId)
  if (old === null) return null
  const wanted = changedTicket(old, request)
  for (const day of daysAround(clock.now())) {
    const successor = await store.orders.findByClOrdId(caller.user.userKey, day, request.newClOrdId)
    if (successor?.replacesOrderId !== orderId) continue
    const isAsked = (['quantity', 'notional', 'limitPrice', 'stopPrice'] as const).every(field => areEqual(successor[field], wanted[field]))
    if (isAsked) return successor
  }
  return null
}

async function ownOrder(store: Deps['store'], { user }: UserCaller, accountId: AccountId, orderId: OrderId): Promise<Order | null> {
  const order = await store.orders.find(orderId)
  return order?.userKey === user.userKey && order.accountId === accountId ? order : null
}
