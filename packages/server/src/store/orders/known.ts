// Caches orders, so that the same document is not parsed again for every list.
import type { OrderId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { LRUCache } from 'lru-cache'
import { readOrder } from '../documents.ts'

/** About three kilobytes each, with the texts that readers make of them. */
const KNOWN_MAX = 5_000

interface Known {
  readonly document: string
  readonly order: Order
}

/** Never stale: an order is returned only for the document it was read from. */
export class KnownOrders {
  readonly #known = new LRUCache<OrderId, Known>({ max: KNOWN_MAX })

  read(orderId: OrderId, document: string): Order {
    const known = this.#known.get(orderId)
    if (known?.document === document) return known.order
    const order = readOrder(document)
    this.#known.set(orderId, { document, order })
    return order
  }
}
