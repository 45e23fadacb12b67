import type { Freshness } from '../../domain/freshness.ts'
import type { UserKey } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import type { OrderFilter, OrderSort, Page, PageRequest, Store } from '../../ports/store.ts'
import type { AccountScope } from '../accounts/freshened.ts'
import { demandSomething, type FreshenedDeps, freshened } from '../accounts/freshened.ts'
import { setBounded } from '../bounded-map.ts'
import type { UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'

/** The user's orders, in pages. Accounts without a mirror are first read from their broker. @throws ServiceError like the scope. */
export async function listOrders(
  deps: FreshenedDeps & Pick<Deps, 'store'> & { readonly orderPages: OrderPages },
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
async function hasOrders(
  { store }: Pick<Deps, 'store'>,
  accountIds: OrderFilter['accountIds'],
  freshness: readonly Freshness[]
): Promise<boolean> {
  if (!freshness.every(({ state }) => state === 'unavailable')) return true
  const { rows } = await store.orders.list({ accountIds }, 'entryTime', { limit: 1, edge: null, descending: true })
  return rows.length > 0
}

const PAGES_MAX = 500

interface Known {
  readonly seq: number
  readonly page: Page<Order>
}

/**
 * Caches pages of orders until the user's newest event changes: every visible change of an order logs an event in the same commit.
 * Platforms request the same first page again and again.
 */
export class OrderPages {
  readonly #store: Pick<Store, 'orders' | 'events'>
  readonly #known = new Map<string, Known>()

  constructor(store: Pick<Store, 'orders' | 'events'>) {
    this.#store = store
  }

  /** Returns the same page object until something changes. */
  async list(userKey: UserKey, filter: OrderFilter, sort: OrderSort, request: PageRequest): Promise<Page<Order>> {
    const key = JSON.stringify([userKey, filter, sort, request])
    // Read before the page: after a change in between, the page is newer than its number and is only read once too often.
    const seq = await this.#store.events.last(userKey)
    const known = this.#known.get(key)
    if (known?.seq === seq) return known.page
    const page = await this.#store.orders.list(filter, sort, request)
    setBounded(this.#known, key, { seq, page }, PAGES_MAX)
    return page
  }
}
