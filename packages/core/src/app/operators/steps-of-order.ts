// What became of one order, step by step, put together from what is stored.
import { ServiceError } from '../../domain/errors.ts'
import type { OrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { epochMs, timestampOfMs } from '../../domain/timestamp.ts'
import type { OperatorReads, PlacedEntry } from '../../ports/operator-reads.ts'
import type { Store } from '../../ports/store.ts'
import type { WebhookDelivery } from '../../ports/webhook-store.ts'
import { CLOCKS_MS, eventsOfOrder, type LoggedChange, type OrderEvents } from './order-events.ts'
import { changeStep, deliverySteps, type OrderStep, recordedStep, requestStep, sentSteps } from './order-step.ts'

export interface OrderSteps {
  readonly order: Order
  /** In the order in which they happened; those of unknown time stand where they belong. */
  readonly steps: readonly OrderStep[]
  /** Whether all of the order's events were found: some may be erased by now, or lie beyond what one read looks through. */
  readonly events: OrderEvents['found']
  /** False if there are more deliveries than one read returns. */
  readonly deliveriesComplete: boolean
}

const AUDIT_MAX = 200
/** Attempts of the user that one read looks through. */
export const DELIVERIES_MAX = 500

export interface OrderStepsDeps {
  readonly store: Pick<Store, 'orders' | 'events'>
  readonly reads: OperatorReads
}

/** @throws ServiceError order_not_found */
export async function orderSteps({ store, reads }: OrderStepsDeps, orderId: OrderId): Promise<OrderSteps> {
  const order = await store.orders.find(orderId)
  if (order === null)
    throw new ServiceError('order_not_found', 'There is no order with this id; it may have been removed with its user or connection.')
  const [audit, { events, found }] = await Promise.all([reads.auditOfOrder(orderId, AUDIT_MAX), eventsOfOrder(store, order)])
  const [first] = events
  // A delivery begins after its event. One more than is looked through tells whether there are more.
  const attempts =
    first === undefined ? [] : await reads.deliveriesOf(order.userKey, timestampOfMs(epochMs(first.at) - CLOCKS_MS), DELIVERIES_MAX + 1)
  return {
    order,
    steps: stepsOf(order, audit, events, attempts.slice(0, DELIVERIES_MAX)),
    events: found,
    deliveriesComplete: attempts.length <= DELIVERIES_MAX
  }
}

/** The steps of what was read. */
export function stepsOf(
  order: Order,
  audit: readonly PlacedEntry[],
  events: readonly LoggedChange[],
  deliveries: readonly WebhookDelivery[]
): readonly OrderStep[] {
  const requests = audit.map(requestStep)
  const placed = requests.filter(({ evidence }) => evidence.action === 'order.place' || evidence.action === 'order.adopt')
  const first = events[0]?.data.revision === 1 ? events[0] : null
  const [sent, answer] = sentSteps(order)
  const later = [
    ...requests.filter(step => !placed.includes(step)),
    ...(answer === undefined || answer.at === null ? [] : [answer]),
    ...events.filter(event => event !== first).map(changeStep),
    ...deliveries.flatMap(delivery => deliverySteps(delivery, events))
  ].sort((one, other) => (one.at === other.at ? 0 : (one.at ?? '') < (other.at ?? '') ? -1 : 1))
  // The time of the sending is not recorded; it was before the answer, and before all that followed from it.
  const before = [...placed, recordedStep(order, first), ...(sent === undefined ? [] : [sent])]
  return [...before, ...(answer?.at === null ? [answer] : []), ...later]
}
