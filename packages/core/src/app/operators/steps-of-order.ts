// What became of one order, step by step, put together from what is stored.
import { ServiceError } from '../../domain/errors.ts'
import type { OrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { epochMs, timestampOfMs } from '../../domain/timestamp.ts'
import type { OperatorReads, PlacedEntry } from '../../ports/operator-reads.ts'
import type { Store } from '../../ports/store.ts'
import type { WebhookDelivery } from '../../ports/webhook-store.ts'
import { CLOCKS_MS, eventsOfOrder, isFirst, type LoggedChange, type MissingChanges } from './order-events.ts'
import {
  changeStep,
  deliverySteps,
  isAboutReplay,
  LOST_REQUEST,
  type OrderStep,
  recordedStep,
  requestStep,
  sentSteps,
  settlementOf
} from './order-step.ts'

/** Which steps are missing, as far as it is known. `later_requests`, `later_attempts`: there are more than one read looks through. */
export type MissingSteps = MissingChanges | 'later_requests' | 'later_attempts'

export interface OrderSteps {
  /** In the order in which they happened; those of unknown time stand where they belong. */
  readonly steps: readonly OrderStep[]
  /** What operators did about replays of the order, or about the order as a replay: no step of what became of it. */
  readonly replays: readonly OrderStep[]
  readonly missing: readonly MissingSteps[]
}

/** Audit entries of an order that one read looks through. */
export const AUDIT_MAX = 200
/** Attempts of the user that one read looks through. */
export const ATTEMPTS_MAX = 500

export interface OrderStepsDeps {
  readonly store: { readonly orders: Pick<Store['orders'], 'find'>; readonly events: Pick<Store['events'], 'read' | 'span'> }
  readonly reads: Pick<OperatorReads, 'auditOfOrder' | 'deliveriesOf'>
}

/** @throws ServiceError order_not_found */
export async function orderSteps({ store, reads }: OrderStepsDeps, orderId: OrderId): Promise<OrderSteps> {
  const order = await store.orders.find(orderId)
  if (order === null)
    throw new ServiceError('order_not_found', 'There is no order with this id; it may have been removed with its user or connection.')
  // Of audit entries and of attempts, one more than is shown, to know whether there are more.
  const [audit, modification, { changes, missing }] = await Promise.all([
    reads.auditOfOrder(orderId, AUDIT_MAX + 1),
    modificationOf(reads, order),
    eventsOfOrder(store, order)
  ])
  const [first] = changes
  const from = first === undefined ? null : timestampOfMs(epochMs(first.at) - CLOCKS_MS)
  const attempts = from === null ? [] : await reads.deliveriesOf(order.userKey, from, ATTEMPTS_MAX + 1)
  const entries = audit.slice(0, AUDIT_MAX)
  const requests = [...modification, ...entries.filter(entry => !isAboutReplay(entry))]
  return {
    steps: stepsOf(newest(order, changes), requests, changes, attempts.slice(0, ATTEMPTS_MAX)),
    replays: entries.filter(isAboutReplay).map(requestStep),
    missing: [
      ...(audit.length > AUDIT_MAX ? (['later_requests'] as const) : []),
      ...missing,
      ...(attempts.length > ATTEMPTS_MAX ? (['later_attempts'] as const) : [])
    ]
  }
}

/** The request that made the order as the successor of another: its entry is about that one. Empty: there is none, or it is not found. */
async function modificationOf(reads: OrderStepsDeps['reads'], { orderId, replacesOrderId }: Order): Promise<readonly PlacedEntry[]> {
  if (replacesOrderId === null) return []
  const entries = await reads.auditOfOrder(replacesOrderId, AUDIT_MAX)
  return entries.filter(({ action, detail }) => action === 'order.modify' && detail.successor === orderId)
}

/** The order as its newest event has it, if it changed after it was read. */
function newest(order: Order, changes: readonly LoggedChange[]): Order {
  const last = changes.at(-1)?.data
  return last !== undefined && last.revision > order.revision ? last : order
}

/** The steps of what was read. `audit`: of the order, and the modification that made it. */
export function stepsOf(
  order: Order,
  audit: readonly PlacedEntry[],
  events: readonly LoggedChange[],
  deliveries: readonly WebhookDelivery[]
): readonly OrderStep[] {
  const placed = audit.filter(entry => isPlacing(order, entry))
  const first = events.find(isFirst) ?? null
  const settlement = settlementOf(order, events)
  const changes = events.flatMap(event => [
    ...(settlement?.event === event ? [settlement.step] : []),
    ...(event === first ? [] : [changeStep(event)])
  ])
  const others = [
    ...audit.filter(entry => !placed.includes(entry)).map(requestStep),
    ...(settlement?.event === null ? [settlement.step] : []),
    ...deliveries.flatMap(delivery => deliverySteps(delivery, events))
  ]
  const isLost = placed.length === 0 && order.submission.state !== 'external'
  const requests = isLost ? [LOST_REQUEST] : placed.map(requestStep)
  // The time of the sending is not recorded; it was before the answer, and before all that followed from it.
  return [...requests, recordedStep(order, first), ...sentSteps(order), ...merged(changes, others)]
}

/** Whether the order was made by it. */
function isPlacing({ orderId }: Order, { action, target }: PlacedEntry): boolean {
  return action === 'order.place' || action === 'order.adopt' || target !== orderId
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
