// Orders that no look-up can settle.
import type { Order } from '@trunkline/core/domain/order'
import { isSameTicket } from '@trunkline/core/domain/order-matching'
import type { Login } from './scene.ts'

/**
 * Orders whose outcome cannot be found: their broker does not tag orders, and they never arrived, or cannot be distinguished from others
 * like them; or they were to replace an order in place that has the same terms already.
 */
export function hopeless({ broker }: Login, orders: readonly Order[]): ReadonlySet<Order> {
  const unseen = orders.filter(order => changesNothing(order, orders) && order.submission.state === 'not_received')
  if (broker.capabilities.deduplication !== 'none') return new Set(broker.capabilities.replacedOrderId === 'same' ? unseen : [])
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

function changesNothing(order: Order, orders: readonly Order[]): boolean {
  const before = orders.find(({ orderId }) => orderId === order.replacesOrderId)
  return before !== undefined && isSameTicket(order, before)
}
