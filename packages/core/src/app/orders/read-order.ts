import { ServiceError } from '../../domain/errors.ts'
import type { Freshness } from '../../domain/freshness.ts'
import type { AccountId, OrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { type FreshenedDeps, freshened } from '../accounts/freshened.ts'
import type { UserCaller } from '../caller.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import { ownedAccount } from '../owned.ts'
import { orderNotFound } from './cancel-order.ts'

interface ReadDeps extends FreshenedDeps {
  readonly orderWriter: OrderWriter
}

/**
 * One order of the user, as fresh as its broker allows; if the broker does not answer, the last known record. Another user's order is
 * reported as unknown. `accountId` null: any of the user's accounts.
 * @throws ServiceError account_not_found, order_not_found.
 */
export async function readOrder(
  deps: ReadDeps,
  caller: UserCaller,
  accountId: AccountId | null,
  orderId: OrderId
): Promise<{ readonly order: Order; readonly freshness: readonly Freshness[] }> {
  if (accountId !== null) await ownedAccount(deps, caller, accountId)
  const known = await ownOrder(deps, caller, accountId, orderId)
  const { accounts, freshness } = await freshened(deps, caller, { accountId: known.accountId }, 'orders').catch(unknownOrder(accountId))
  if (accounts.length === 0) throw notFound(accountId)
  return { order: await ownOrder(deps, caller, accountId, orderId), freshness }
}

async function ownOrder(
  { orderWriter }: Pick<ReadDeps, 'orderWriter'>,
  { user }: UserCaller,
  accountId: AccountId | null,
  orderId: OrderId
): Promise<Order> {
  const order = await orderWriter.findOf(user.userKey, orderId)
  if (order === null || (accountId !== null && order.accountId !== accountId)) throw notFound(accountId)
  return order
}

/** An order is still readable after its account was removed, until it is erased. */
function unknownOrder(accountId: AccountId | null): (cause: unknown) => never {
  return cause => {
    throw accountId === null && cause instanceof ServiceError && cause.code === 'account_not_found' ? notFound(null) : cause
  }
}

function notFound(accountId: AccountId | null): ServiceError {
  if (accountId !== null) return orderNotFound()
  return new ServiceError('order_not_found', 'This user has no order with this order_id; list them with GET /orders.')
}
