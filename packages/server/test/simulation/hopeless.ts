// Orders that no look-up can settle.
import type { Order } from '@trunkline/core/domain/order'
import { isSameTicket } from '@trunkline/core/domain/order-matching'
import type { Login } from './scene.ts'

/**
 * Orders whose outcome cannot be found: their broker does not tag orders, and they never arrived, or cannot be distinguished from others
 * like them.
 */
export function hopeless({ broker }: Login, orders: readonly Order[]): ReadonlySet<Order> {
  if (broker.capabilities.deduplication !== 'none') return new Set()
  const waiting = orders.filter(
    ({ brokerOrderId, submission }) => brokerOrderId === null && (submission.state === 'unknown' || submission.state === 'submitting')
  )
  return new Set(
    waiting.filter(order => {
      const isAlone = !orders.some(other => other.brokerOrderId !== null && isSameTicket(order, other))
      const isLost = order.replacesOrderId === null && broker.ledger.arrivals(order.brokerClOrdId) === 0
      return isLost || !isAlone
    })
  )
}
