// What a step of an order is, and how each record becomes one. A fact that a record does not have is null.
import type { Order } from '../../domain/order.ts'
import { filledQuantity } from '../../domain/order-machine.ts'
import type { Timestamp } from '../../domain/timestamp.ts'
import { passes } from '../../domain/webhook.ts'
import type { PlacedEntry } from '../../ports/operator-reads.ts'
import type { WebhookDelivery } from '../../ports/webhook-store.ts'
import type { LoggedChange } from './order-events.ts'

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

export function requestStep({ at, actor, action, result, ip, requestId, position, detail }: PlacedEntry): OrderStep {
  const by = { actor, address: ip, request_id: requestId, result, chain_position: position }
  return { kind: 'request', at, source: 'audit', evidence: { action, ...by, ...prefixed(detail) } }
}

/** Details are behind a prefix, so that none takes the place of a member. */
function prefixed(detail: PlacedEntry['detail']): Evidence {
  return Object.fromEntries(Object.entries(detail).map(([name, value]) => [`detail_${name}`, value]))
}

/** With the order's first event, which one commit wrote; null: that event is not there. */
export function recordedStep({ entryTime, tradingDay, clOrdId, submission }: Order, first: LoggedChange | null): OrderStep {
  const isOurs = submission.state !== 'external'
  const evidence = { cl_order_id: clOrdId, trading_day: tradingDay, placed_here: isOurs, entry_time: entryTime }
  if (first === null) return { kind: 'recorded', at: entryTime, source: 'order', evidence }
  return { kind: 'recorded', at: first.at, source: 'event', evidence: { ...evidence, seq: first.seq, event_id: first.eventId } }
}

/** The time of the first byte is not recorded; when the state became known is. */
export function sentSteps({
  submission,
  brokerClOrdId,
  brokerOrderId,
  brokerStatus,
  brokerMessage,
  rejectCode
}: Order): readonly OrderStep[] {
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

export function changeStep({ seq, eventId, at, data }: LoggedChange): OrderStep {
  const evidence = {
    seq,
    event_id: eventId,
    revision: data.revision,
    status: data.status,
    submission_state: data.submission.state,
    filled_quantity: filledQuantity(data),
    fills: data.fills.length,
    broker_status: data.brokerStatus
  }
  return { kind: 'change', at, source: 'event', evidence }
}

/** No step if the attempt's message had none of the order's events. */
export function deliverySteps(delivery: WebhookDelivery, changes: readonly LoggedChange[]): readonly OrderStep[] {
  const carried = hasCarried(delivery, changes)
  if (carried === false) return []
  const { endpointId, deliveryId, messageId, attempt, reason, startedAt, tookMs, answer, failure, retryAt, events } = delivery
  const sent = { endpoint_id: endpointId, delivery_id: deliveryId, message_id: messageId, reason, attempt }
  const range = { from_seq: events?.from ?? null, to_seq: events?.to ?? null, carried }
  const outcome = { took_ms: tookMs, status: answer?.status ?? null, failure, retry_at: retryAt }
  return [{ kind: 'delivery', at: startedAt, source: 'delivery', evidence: { ...sent, ...range, ...outcome } }]
}

/**
 * Whether the message had one of the order's events: those of its range that pass the filter, but for what was erased by then, which is not
 * in the log any more either. Null: the filter was not recorded, so it may have had one.
 */
function hasCarried({ events, filter }: WebhookDelivery, changes: readonly LoggedChange[]): boolean | null {
  if (events === null || events.firstEventId === null) return false
  const inRange = changes.filter(({ seq }) => seq >= events.from && seq <= events.to)
  if (inRange.some(({ eventId }) => eventId === events.firstEventId)) return true
  if (filter === undefined) return inRange.length === 0 ? false : null
  return inRange.some(change => passes(filter, change))
}
