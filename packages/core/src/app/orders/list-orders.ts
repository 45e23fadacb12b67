import type { Freshness } from '../../domain/freshness.ts'
import type { Order } from '../../domain/order.ts'
import type { OrderFilter, OrderSort, Page, PageRequest } from '../../ports/store.ts'
import { demandSomething, freshened } from '../accounts/freshened.ts'
import type { AccountScope } from '../accounts/scope.ts'
import type { UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'

/** The user's orders, in pages. Accounts without a mirror are first read from their broker. @throws ServiceError like the scope. */
export async function listOrders(
  deps: AppDeps,
  caller: UserCaller,
  scope: AccountScope,
  filter: Omit<OrderFilter, 'accountIds'>,
  sort: OrderSort,
  page: PageRequest
): Promise<{ readonly page: Page<Order>; readonly freshness: readonly Freshness[] }> {
  const { accounts, freshness } = await freshened(deps, caller, scope, 'orders')
  if (accounts.length === 0) return { page: { rows: [], next: null, prev: null }, freshness }
  const accountIds = accounts.map(({ accountId }) => accountId)
  if (!(await hasOrders(deps, accountIds, freshness))) demandSomething({ freshness })
  return { page: await deps.orderPages.list(caller.user.userKey, { ...filter, accountIds }, sort, page), freshness }
}

/** Whether there is an order to show: one placed here counts even if its broker never answered a read. */
async function hasOrders({ store }: AppDeps, accountIds: OrderFilter['accountIds'], freshness: readonly Freshness[]): Promise<boolean> {
  if (!freshness.every(({ state }) => state === 'unavailable')) return true
  const { rows } = await store.orders.list({ accountIds }, 'entryTime', { limit: 1, edge: null, descending: true })
  return rows.length > 0
}
