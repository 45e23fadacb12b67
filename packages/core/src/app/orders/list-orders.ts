import { ServiceError } from '../../domain/errors.ts'
import type { Order } from '../../domain/order.ts'
import type { OrderFilter, OrderSort, Page, PageRequest } from '../../ports/store.ts'
import { freshened } from '../accounts/freshened.ts'
import { type AccountScope, accountsInScope } from '../accounts/scope.ts'
import type { UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'

/** The user's orders, paged. Orders of an account nobody follows are read from its broker first. @throws ServiceError as the scope does. */
export async function listOrders(
  deps: AppDeps,
  caller: UserCaller,
  scope: AccountScope,
  filter: Omit<OrderFilter, 'accountIds'>,
  sort: OrderSort,
  page: PageRequest
): Promise<Page<Order>> {
  const accounts = await readable(deps, caller, scope)
  if (accounts.length === 0) return { rows: [], next: null, prev: null }
  return deps.orderPages.list(caller.user.userKey, { ...filter, accountIds: accounts.map(({ accountId }) => accountId) }, sort, page)
}

/** An order placed here is something to show, whether or not its broker has ever answered a read. */
async function readable(deps: AppDeps, caller: UserCaller, scope: AccountScope): Promise<Awaited<ReturnType<typeof freshened>>> {
  try {
    return await freshened(deps, caller, scope, 'orders')
  } catch (cause) {
    if (!(cause instanceof ServiceError) || cause.code !== 'broker_unavailable') throw cause
    const accounts = await accountsInScope(deps, caller, scope)
    const accountIds = accounts.map(({ accountId }) => accountId)
    const { rows } = await deps.store.orders.list({ accountIds }, 'entryTime', { limit: 1, edge: null, descending: true })
    if (rows.length === 0) throw cause
    return accounts
  }
}
