import { ServiceError } from '../../domain/errors.ts'
import type { AccountId, OrderId } from '../../domain/ids.ts'
import { isOpen, type Order } from '../../domain/order.ts'
import { audited, type UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'
import { resolvedIfDoubtful } from './doubtful.ts'
import { cancelRequested, notOpen } from './order-steps.ts'
import { canTakeCancel, takeUpCancel } from './owed.ts'
import { tradableAccount } from './tradable.ts'

/**
 * Asks for the cancel of an open order; asked again while it is pending, it gives the same result. An order the broker may not have yet
 * keeps the wish: the cancel goes out as soon as the broker is known to have it.
 * @throws ServiceError account_not_found, order_not_found, order_not_open, connection_broken, entitlement_missing.
 */
export async function cancelOrder(deps: AppDeps, caller: UserCaller, accountId: AccountId, orderId: OrderId): Promise<Order> {
  const { account, connection } = await tradableAccount(deps, caller, accountId, null)
  const known = await deps.desk.findOf(caller.user.userKey, orderId)
  if (known === null || known.accountId !== account.accountId) throw orderNotFound()
  const at = deps.clock.now()
  const audit = audited(deps.clock, caller, 'order.cancel', orderId)
  let isNew = false
  const order = await resolvedIfDoubtful(deps, [{ connection, account, order: known }], async () => {
    const asked = await deps.desk.change(orderId, present => {
      if (!isOpen(present.status)) throw notOpen(present, 'cancelled')
      const next = cancelRequested(present, at)
      // A decision may run again over a newer state: the last one is what was written.
      isNew = next !== null
      return next === null ? null : { ...next, audit }
    })
    return asked !== null && isNew && canTakeCancel(asked) ? takeUpCancel(deps.desk, asked, at) : asked
  })
  if (order === null) throw orderNotFound()
  deps.mirrors.expect(connection, account, order)
  // One that was asked for before and has no answer is the resolver's to look after, and to send again if need be.
  if (order.status === 'pending_cancel' && (isNew || deps.orderGateway.isCancelling(order))) {
    return deps.orderGateway.cancel({ connection, account, order })
  }
  deps.resolver.watch({ connection, account, order })
  return order
}

export function orderNotFound(): ServiceError {
  return new ServiceError('order_not_found', 'This account has no order with this order_id; list them with GET /orders.')
}
