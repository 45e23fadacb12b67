import { compare } from '../../domain/decimal.ts'
import { ServiceError } from '../../domain/errors.ts'
import { isOpen, type Order, type Submission } from '../../domain/order.ts'
import { apply, filledAlong, later } from '../../domain/order-machine.ts'
import type { Timestamp } from '../../domain/timestamp.ts'
import type { RejectCode } from '../../domain/vocabulary.ts'
import { BrokerFault, type Outcome } from '../../ports/broker.ts'
import type { Next } from './order-writer.ts'

/** Why a submission failed: the order never lived at the broker. */
export interface SubmissionFailure {
  /** Set where an operator decided so. */
  readonly method?: 'operator'
  readonly state: Extract<Submission['state'], 'refused' | 'refused_by_gateway' | 'not_sent' | 'not_received'>
  readonly message: string
  /** What the owner of a new order can do. Of a replacement, the order that it was to replace decides that. */
  readonly advice?: string
  readonly rejectCode: RejectCode | null
  readonly brokerStatus: string | null
}

const UNSETTLED: ReadonlySet<Submission['state']> = new Set(['submitting', 'unknown'])

/** Whether the broker is known to have the order, or known not to. */
export function acknowledged(order: Order): boolean {
  return !UNSETTLED.has(order.submission.state)
}

/** Whether an answer of the broker is pending: to the submission of an order that may live, or to a cancel or replace of one that does, whoever requested it. */
export function awaitsAnswer(order: Order): boolean {
  return isOpen(order.status) && (!acknowledged(order) || order.pendingRequest !== null || isChanging(order))
}

/** Whether the broker is at a cancel or replace of the order. */
export function isChanging({ status }: Order): boolean {
  return status === 'pending_cancel' || status === 'pending_replace'
}

/** Whether the order was reported as absent at the broker. */
export function isThoughtAbsent({ submission }: Order): boolean {
  const { state } = submission
  return state === 'not_received' || isNeverSent(state) || state === 'refused'
}

/** Whether the order never left this process. */
function isNeverSent(state: Submission['state']): boolean {
  return state === 'not_sent' || state === 'refused_by_gateway'
}

/** Why an order never lived, as it was recorded; null while it lives, has lived, or where that is unknown. */
export function failureOf({ submission, status, brokerMessage, rejectCode, brokerStatus }: Order): SubmissionFailure | null {
  if (status !== 'rejected') return null
  switch (submission.state) {
    case 'refused':
    case 'refused_by_gateway':
    case 'not_sent':
    case 'not_received':
      return { state: submission.state, message: brokerMessage ?? 'The broker refused the change.', rejectCode, brokerStatus }
    default:
      return null
  }
}

/** The outcome of what was refused: by the broker, or by the adapter before anything was sent. */
export function refusal({ message, rejectCode, brokerStatus, isUnsent }: Extract<Outcome<never>, { kind: 'refused' }>): SubmissionFailure {
  if (isUnsent !== true) return { state: 'refused', message, rejectCode, brokerStatus }
  return { state: 'refused_by_gateway', message: `${message} It was not sent to the broker.`, rejectCode, brokerStatus: null }
}

type RequestKind = 'order' | 'modification'

/** Proof that nothing was sent to the broker, with a message for its owner. No broker rejected it. */
export function notSent(what: RequestKind, cause: unknown): SubmissionFailure {
  const failure = { state: 'not_sent', rejectCode: null, brokerStatus: null } as const
  if (cause instanceof BrokerFault && cause.kind === 'credentials_rejected') {
    const message = `The ${what} was not sent: the broker does not accept the login any more. Have the user connect again.`
    return { ...failure, message, advice: 'Then place it under a new cl_order_id.' }
  }
  const why = cause instanceof Error ? ` (${cause.message.slice(0, 200)})` : ''
  return { ...failure, message: `The ${what} was not sent: the broker could not be reached${why}.`, advice: SAFE }
}

/** Proof that the broker does not have it, with a message for its owner. No broker rejected it. */
export function notReceived(what: RequestKind): SubmissionFailure {
  const messages = {
    order: 'The broker never received the order: it was looked up repeatedly and is not there.',
    modification: 'The modification did not take effect.'
  }
  return { state: 'not_received', message: messages[what], advice: SAFE, rejectCode: null, brokerStatus: null }
}

const SAFE = 'It is safe to place it again under a new cl_order_id.'

/** Of a change that a broker took, and did not make for as long as it is waited for. */
export const NOT_APPLIED: SubmissionFailure = {
  state: 'not_received',
  message: 'The broker took the change and did not make it.',
  rejectCode: null,
  brokerStatus: null
}

/** Ends an order that never lived. Does nothing once the broker is known to have it: a refusal then is about something else. */
export function refused(order: Order, failure: SubmissionFailure, at: Timestamp): Next | null {
  if (acknowledged(order)) return null
  const step = apply(order, { type: 'status', to: 'rejected', at })
  if (!step.changed) return null
  const submission: Submission = {
    ...order.submission,
    state: failure.state,
    since: at,
    method: failure.method ?? (failure.state === 'not_received' ? 'absence' : failure.state === 'refused_by_gateway' ? null : 'reply')
  }
  const attempts = isNeverSent(failure.state) ? 0 : submission.attempts
  return {
    order: {
      ...step.order,
      submission: { ...submission, attempts },
      brokerStatus: failure.brokerStatus,
      brokerMessage: failure.advice === undefined ? failure.message : `${failure.message} ${failure.advice}`,
      rejectCode: failure.rejectCode,
      pendingRequest: null,
      systemTime: at
    }
  }
}

/** It is unknown whether the broker has the order. Its status stays pending. */
export function submissionUnknown(order: Order, method: 'reply' | 'recovery', at: Timestamp): Next | null {
  if (order.submission.state !== 'submitting') return null
  return { order: { ...order, submission: { ...order.submission, state: 'unknown', since: at, method } } }
}

/** An order with what was filled before it took the place of `before`, which may become more and never less. */
export function continuing(order: Order, before: Order, at: Timestamp): Order {
  const previouslyFilledQuantity = filledAlong(before)
  if (order.previouslyFilledQuantity !== null && compare(order.previouslyFilledQuantity, previouslyFilledQuantity) >= 0) return order
  return { ...order, previouslyFilledQuantity, systemTime: at }
}

/** A pending cancel or replace came to nothing: the order is live again, as far as its fills say. */
export function released(order: Order, message: string | null, at: Timestamp): Next | null {
  const step = apply(order, { type: 'status', to: order.fills.length > 0 ? 'partially_filled' : 'working', at, releases: true })
  return step.changed ? { order: { ...step.order, brokerMessage: message, systemTime: at } } : null
}

/**
 * Requests the cancel of an order. While its replacement is pending, the cancel is stored with the replacement, in case the order lives on.
 * Null when it is requested already. @throws ServiceError order_not_open.
 */
export function cancelRequested(order: Order, at: Timestamp): Next | null {
  const { status, pendingRequest, revision: ofRevision } = order
  if (status === 'pending_cancel' || isCancelRequested(order)) return null
  if (status === 'pending_replace' && pendingRequest?.kind === 'replace')
    return {
      order: { ...order, pendingRequest: { ...pendingRequest, cancelRequestedAt: at }, lastModifiedTime: later(order.lastModifiedTime, at) }
    }
  if (order.status === 'pending') {
    // The broker may not have it yet, so there is nothing to send: the intent waits for the order.
    const pendingRequest = { kind: 'cancel', requestedAt: at, sentAt: null, successorId: null, takenAt: null, ofRevision } as const
    return { order: { ...order, pendingRequest, lastModifiedTime: later(order.lastModifiedTime, at) } }
  }
  const step = apply(order, { type: 'status', to: 'pending_cancel', at })
  if (!step.changed) throw notOpen(order, 'cancelled')
  const request = { kind: 'cancel', requestedAt: at, sentAt: at, successorId: null, takenAt: null, ofRevision } as const
  return { order: { ...step.order, pendingRequest: request } }
}

/**
 * The order as one that the broker holds: it has acknowledged it, and has only not confirmed yet that the order works. A request about it is the
 * broker's to take or to refuse.
 */
export function held(order: Order, at: Timestamp): Order {
  return order.status === 'pending' && acknowledged(order) ? apply(order, { type: 'status', to: 'working', at }).order : order
}

/** Whether a cancel was asked for, whatever else is pending. */
export function isCancelRequested({ pendingRequest }: Order): boolean {
  return pendingRequest?.kind === 'cancel' || pendingRequest?.cancelRequestedAt !== undefined
}

/** Requests the order's replacement. @throws ServiceError order_not_open. */
export function replaceRequested(order: Order, successorId: Order['orderId'], at: Timestamp): Next {
  // A cancel that waits for its turn would be forgotten.
  if (order.pendingRequest !== null) throw notOpen(order, 'modified')
  const step = apply(order, { type: 'status', to: 'pending_replace', at })
  if (!step.changed) throw notOpen(order, 'modified')
  const request = { kind: 'replace', requestedAt: at, sentAt: at, successorId, takenAt: null, ofRevision: order.revision } as const
  return { order: { ...step.order, pendingRequest: request } }
}

export function notOpen(order: Order, action: 'cancelled' | 'modified'): ServiceError {
  const { status, pendingRequest } = order
  return new ServiceError('order_not_open', `The order cannot be ${action}: ${whyNot()}.`)

  function whyNot(): string {
    if (status === 'pending' && pendingRequest === null)
      return 'the broker has not acknowledged it; wait until its submission.state is acknowledged and try again'
    if (isChanging(order)) return `it is ${status}; wait until that is decided and try again`
    return isOpen(status)
      ? `its ${pendingRequest?.kind ?? 'change'} is on its way; wait until that is decided and try again`
      : `it is ${status}, which is final`
  }
}
