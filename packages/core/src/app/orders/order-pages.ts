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
 * Pages of orders, read again only when something happened to the user's records since: every visible change of an order moves the number of
 * the user's newest event in the same commit. Platforms ask for the same first page over and over.
 */
export class OrderPages {
  readonly #store: Pick<Store, 'orders' | 'events'>
  readonly #known = new Map<string, Known>()

  constructor(store: Pick<Store, 'orders' | 'events'>) {
    this.#store = store
  }

  /** The very same page object for as long as nothing happened. */
  async list(userKey: UserKey, filter: OrderFilter, sort: OrderSort, request: PageRequest): Promise<Page<Order>> {
    const key = JSON.stringify([userKey, filter, sort, request])
    // Asked before the page is read: a change in between makes the page newer than its number, and it is read once more for nothing.
    const seq = await this.#store.events.last(userKey)
    const known = this.#known.get(key)
    if (known?.seq === seq) return known.page
    const page = await this.#store.orders.list(filter, sort, request)
    setBounded(this.#known, key, { seq, page }, PAGES_MAX)
    return page
  }
}
