import type { UserKey } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import type { OrderFilter, OrderSort, Page, PageRequest, Store } from '../../ports/store.ts'
import { setBounded } from '../bounded-map.ts'

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
