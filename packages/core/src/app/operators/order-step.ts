// What a step of an order is, and how each record becomes one. A fact that a record does not have is null.
import type { Order, SubmissionState } from '../../domain/order.ts'
import { filledQuantity } from '../../domain/order-machine.ts'
import type { Timestamp } from '../../domain/timestamp.ts'
import { passes } from '../../domain/webhook.ts'
import type { PlacedEntry } from '../../ports/operator-reads.ts'
import type { WebhookDelivery } from '../../ports/webhook-store.ts'
import type { LoggedChange } from './order-events.ts'

export const STEP_KINDS = ['request', 'recorded', 'sent', 'answer', 'settled', 'change', 'delivery'] as const
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

export function requestStep({ at, actor, action, target, result, ip, requestId, position, detail }: PlacedEntry): OrderStep {
  const by = { actor, address: ip, request_id: requestId, result, chain_position: position }
  return { kind: 'request', at, source: 'audit', evidence: { action, target, ...by, ...prefixed(detail) } }
}

/** Of an order that was requested here, without the entry of that request: it is not where it should be. */
export const LOST_REQUEST: OrderStep = {
  ...{ kind: 'request', at: null, source: 'order' },
  evidence: { action: null, target: null, actor: null, address: null, request_id: null, result: null, chain_position: null }
}

const REPLAYS: readonly string[] = ['order.replay', 'order.replayed', 'order.replay_of']

/** Whether an entry of an order is about its replay in the sandbox, or what it is a replay of: the order went on by itself, without it. */
export function isAboutReplay({ action }: Pick<PlacedEntry, 'action'>): boolean {
  return REPLAYS.includes(action)
}

/** Details are behind a prefix, so that none takes the place of a member. */
function prefixed(detail: PlacedEntry['detail']): Evidence {
  return Object.fromEntries(Object.entries(detail).map(([name, value]) => [`detail_${name}`, value]))
}

/**
 * With the order's first event, which one commit wrote. Null: that event is not there, and nothing else has the time: the entry time of an
 * order placed elsewhere is the broker's.
 */
export function recordedStep({ entryTime, tradingDay, clOrdId, submission }: Order, first: LoggedChange | null): OrderStep {
  const isOurs = submission.state !== 'external'
  const evidence = { cl_order_id: clOrdId, trading_day: tradingDay, placed_here: isOurs, entry_time: entryTime }
  if (first === null) return { kind: 'recorded', at: null, source: 'order', evidence }
  return { kind: 'recorded', at: first.at, source: 'event', evidence: { ...evidence, seq: first.seq, event_id: first.eventId } }
}

/**
 * None if the order was never sent. The time of the first byte is not recorded, and the one attempt is counted before it: only what the
 * broker said proves that it was made.
 */
export function sentSteps({ submission: { state, since, attempts }, brokerClOrdId }: Order): readonly OrderStep[] {
  if (attempts === 0) return []
  const isProved = SETTLEMENTS[state] === 'answer'
  const known = { is_proved: isProved ? true : null, known_at: isProved ? since : null }
  const evidence = { attempts, ...known, submission_state: state, broker_cl_ord_id: brokerClOrdId }
  return [{ kind: 'sent', at: null, source: 'order', evidence }]
}

/** What ends the question whether the broker has the order: what the broker said, or what proved without it; null: nothing does. */
const SETTLEMENTS: Readonly<Record<SubmissionState, 'answer' | 'settled' | null>> = {
  acknowledged: 'answer',
  refused: 'answer',
  refused_by_gateway: 'settled',
  not_sent: 'settled',
  not_received: 'settled',
  submitting: null,
  unknown: null,
  external: null
}

/** How it became known whether the broker has the order, and the event of that commit, with what the order said then. */
export interface Settlement {
  readonly step: OrderStep
  /** Null: it is not there, so what the order said then is not known: it may have changed since. */
  readonly event: LoggedChange | null
}

/** Null while it is not known, and for an order placed elsewhere. */
export function settlementOf({ submission }: Order, changes: readonly LoggedChange[]): Settlement | null {
  const { state, since, method, attempts } = submission
  const kind = SETTLEMENTS[state]
  if (kind === null) return null
  const event = changes.find(({ data }) => data.submission.state === state && data.submission.since === since) ?? null
  // The record says `reply` of an order that was not sent, to which there was none.
  const knownBy = kind === 'settled' && attempts === 0 ? null : method
  const evidence = { submission_state: state, known_by: knownBy, ...(event === null ? NOT_KNOWN : brokerPartOf(event)) }
  return { step: { kind, at: since, source: event === null ? 'order' : 'event', evidence }, event }
}

const NOT_KNOWN = { seq: null, event_id: null, broker_order_id: null, broker_status: null, broker_message: null, reject_code: null }

function brokerPartOf({ seq, eventId, data }: LoggedChange): Readonly<Record<keyof typeof NOT_KNOWN, string | number | null>> {
  const { brokerOrderId, brokerStatus, brokerMessage, rejectCode } = data
  return {
    seq,
    event_id: eventId,
    broker_order_id: brokerOrderId,
    broker_status: brokerStatus,
    broker_message: brokerMessage,
    reject_code: rejectCode
  }
}

export function changeStep({ seq, eventId, at, data }: LoggedChange): OrderStep {
  const evidence = {
    seq,
    event_id: eventId,
    revision: data.revision,
    status: data.status,
    submission_state: data.submission.state,
    pending_request: data.pendingRequest?.kind ?? null,
    requested_at: data.pendingRequest?.requestedAt ?? null,
    cancel_requested_at: data.pendingRequest?.cancelRequestedAt ?? null,
    filled_quantity: filledQuantity(data),
    fills: data.fills.length,
    broker_status: data.brokerStatus,
    broker_message: data.brokerMessage,
    reject_code: data.rejectCode
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
