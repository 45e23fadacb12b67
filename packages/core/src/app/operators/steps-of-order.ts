// What became of one order, step by step, put together from what is stored.
import { ServiceError } from '../../domain/errors.ts'
import type { OrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { epochMs, timestampOfMs } from '../../domain/timestamp.ts'
import type { OperatorReads, PlacedEntry } from '../../ports/operator-reads.ts'
import type { Store } from '../../ports/store.ts'
import type { WebhookDelivery } from '../../ports/webhook-store.ts'
import { CLOCKS_MS, eventsOfOrder, type LoggedChange, type OrderEvents } from './order-events.ts'
import { changeStep, deliverySteps, type OrderStep, recordedStep, requestStep, sentSteps, settlementOf } from './order-step.ts'

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
  const settlement = settlementOf(order, events)
  const changes = events.flatMap(event => [
    ...(settlement?.event === event ? [settlement.step] : []),
    ...(event === first ? [] : [changeStep(event)])
  ])
  const others = [
    ...requests.filter(step => !placed.includes(step)),
    ...(settlement?.event === null ? [settlement.step] : []),
    ...deliveries.flatMap(delivery => deliverySteps(delivery, events))
  ]
  // The time of the sending is not recorded; it was before the answer, and before all that followed from it.
  return [...placed, recordedStep(order, first), ...sentSteps(order), ...merged(changes, others)]
}

/** Events happened in the order of the log, whatever the clocks of their nodes said; the others stand between them by their times. */
function merged(changes: readonly OrderStep[], others: readonly OrderStep[]): readonly OrderStep[] {
  const waiting = others.toSorted(byTime)
  const steps: OrderStep[] = []
  for (const change of changes) {
    const later = waiting.findIndex(step => !isBefore(step, change))
    steps.push(...waiting.splice(0, later === -1 ? waiting.length : later), change)
  }
  return [...steps, ...waiting]
}

/** What led to an event is before it, even at the same instant; a delivery of it is not. */
function isBefore(step: OrderStep, change: OrderStep): boolean {
  return timeOf(step) < timeOf(change) || (step.kind !== 'delivery' && step.at === change.at)
}

function byTime(one: OrderStep, other: OrderStep): number {
  return timeOf(one) < timeOf(other) ? -1 : timeOf(one) > timeOf(other) ? 1 : 0
}

function timeOf({ at }: OrderStep): string {
  return at ?? ''
}
