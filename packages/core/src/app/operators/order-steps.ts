// What became of one order, step by step, as it is stored. A step whose time or evidence was not recorded says null: nothing is inferred.
import { ServiceError } from '../../domain/errors.ts'
import type { OrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { filledQuantity } from '../../domain/order-machine.ts'
import { epochMs, type Timestamp, timestampOfMs } from '../../domain/timestamp.ts'
import type { OperatorReads, PlacedEntry } from '../../ports/operator-reads.ts'
import type { LoggedEvent, Store } from '../../ports/store.ts'
import type { WebhookDelivery } from '../../ports/webhook-store.ts'
import { eventsOfOrder, type OrderEvents } from './order-events.ts'

export const STEP_KINDS = ['request', 'recorded', 'sent', 'answer', 'change', 'delivery'] as const
export type StepKind = (typeof STEP_KINDS)[number]

/** Facts about a step; null: not known. */
export type Evidence = Readonly<Record<string, string | number | boolean | null>>

export interface OrderStep {
  readonly kind: StepKind
  /** When it happened; null: not recorded. */
  readonly at: Timestamp | null
  /** Which record says so. */
  readonly source: 'audit' | 'order' | 'event' | 'delivery'
  readonly evidence: Evidence
}

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
const DELIVERIES_MAX = 500
/** A delivery begins after its event; clocks of nodes may differ by this. */
const CLOCKS_MS = 60_000

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
  const attempts =
    first === undefined ? [] : await reads.deliveriesOf(order.userKey, timestampOfMs(epochMs(first.at) - CLOCKS_MS), DELIVERIES_MAX)
  const deliveries = attempts.filter(attempt => carriesOne(attempt, events))
  return {
    order,
    steps: stepsOf(order, audit, events, deliveries),
    events: found,
    deliveriesComplete: attempts.length < DELIVERIES_MAX
  }
}

/** The steps of what was read. */
export function stepsOf(
  order: Order,
  audit: readonly PlacedEntry[],
  events: readonly LoggedEvent[],
  deliveries: readonly WebhookDelivery[]
): readonly OrderStep[] {
  const requests = audit.map(requestStep)
  const placed = requests.filter(({ evidence }) => evidence.action === 'order.place' || evidence.action === 'order.adopt')
  const first = isFirst(events[0]) ? events[0] : null
  const [sent, answer] = sentSteps(order)
  const later = [
    ...requests.filter(step => !placed.includes(step)),
    ...(answer === undefined || answer.at === null ? [] : [answer]),
    ...events.filter(event => event !== first).flatMap(changeStep),
    ...deliveries.map(deliveryStep)
  ].sort((one, other) => (one.at === other.at ? 0 : (one.at ?? '') < (other.at ?? '') ? -1 : 1))
  // The time of the sending is not recorded; it was before the answer, and before all that followed from it.
  const before = [...placed, recordedStep(order, first), ...(sent === undefined ? [] : [sent])]
  return [...before, ...(answer?.at === null ? [answer] : []), ...later]
}

/** Whether it is the event that was written with the order itself. */
function isFirst(event: LoggedEvent | undefined): event is LoggedEvent {
  return event?.topic === 'orders' && event.data.revision === 1
}

function requestStep({ at, actor, action, result, ip, requestId, position, detail }: PlacedEntry): OrderStep {
  const by = { actor, address: ip, request_id: requestId, result, chain_position: position }
  return { kind: 'request', at, source: 'audit', evidence: { action, ...by, ...prefixed(detail) } }
}

/** Details are behind a prefix, so that none takes the place of a member. */
function prefixed(detail: PlacedEntry['detail']): Evidence {
  return Object.fromEntries(Object.entries(detail).map(([name, value]) => [`detail_${name}`, value]))
}

/** With the order's first event, which one commit wrote; null: that event is not there. */
function recordedStep({ entryTime, tradingDay, clOrdId, submission }: Order, first: LoggedEvent | null): OrderStep {
  const isOurs = submission.state !== 'external'
  const evidence = { cl_order_id: clOrdId, trading_day: tradingDay, placed_here: isOurs, entry_time: entryTime }
  if (first === null) return { kind: 'recorded', at: entryTime, source: 'order', evidence }
  return { kind: 'recorded', at: first.at, source: 'event', evidence: { ...evidence, seq: first.seq, event_id: first.eventId } }
}

/** The time of the first byte is not recorded; when the state became known is. */
function sentSteps({ submission, brokerClOrdId, brokerOrderId, brokerStatus, brokerMessage, rejectCode }: Order): readonly OrderStep[] {
  const { state, attempts, since, method } = submission
  if (state === 'external') return []
  const sent: OrderStep = {
    kind: 'sent',
    at: null,
    source: 'order',
    evidence: { attempts, broker_cl_ord_id: brokerClOrdId, known_at: since }
  }
  const isAnswered = state !== 'submitting' && state !== 'unknown'
  const reported = { broker_order_id: brokerOrderId, broker_status: brokerStatus, broker_message: brokerMessage, reject_code: rejectCode }
  const answer: OrderStep = {
    kind: 'answer',
    at: isAnswered ? since : null,
    source: 'order',
    evidence: { submission_state: state, known_by: method, ...reported }
  }
  return [sent, answer]
}

function changeStep(event: LoggedEvent): readonly OrderStep[] {
  if (event.topic !== 'orders') return []
  const { data } = event
  const evidence = {
    seq: event.seq,
    event_id: event.eventId,
    revision: data.revision,
    status: data.status,
    submission_state: data.submission.state,
    filled_quantity: filledQuantity(data),
    fills: data.fills.length,
    broker_status: data.brokerStatus
  }
  return [{ kind: 'change', at: event.at, source: 'event', evidence }]
}

function deliveryStep({
  endpointId,
  deliveryId,
  messageId,
  attempt,
  reason,
  startedAt,
  tookMs,
  answer,
  failure,
  retryAt,
  events
}: WebhookDelivery): OrderStep {
  const sent = { endpoint_id: endpointId, delivery_id: deliveryId, message_id: messageId, reason, attempt }
  const range = { from_seq: events?.from ?? null, to_seq: events?.to ?? null }
  const outcome = { took_ms: tookMs, status: answer?.status ?? null, failure, retry_at: retryAt }
  return { kind: 'delivery', at: startedAt, source: 'delivery', evidence: { ...sent, ...range, ...outcome } }
}

function carriesOne({ events }: WebhookDelivery, ofOrder: readonly LoggedEvent[]): boolean {
  return events !== null && ofOrder.some(({ seq }) => seq >= events.from && seq <= events.to)
}
