import { compare } from '../../domain/decimal.ts'
import { ServiceError } from '../../domain/errors.ts'
import { isOpen, type Order, type Submission } from '../../domain/order.ts'
import { apply, filledAlong, later } from '../../domain/order-machine.ts'
import type { Timestamp } from '../../domain/timestamp.ts'
import type { RejectCode } from '../../domain/vocabulary.ts'
import { BrokerFault, type Outcome } from '../../ports/broker.ts'
import type { Next } from './order-writer.ts'

/** Why a submission failed: the broker never had the order. */
export interface SubmissionFailure {
  /** Set if an operator decided it. */
  readonly method?: 'operator'
  readonly state: Extract<Submission['state'], 'refused' | 'refused_by_gateway' | 'not_sent' | 'not_received'>
  readonly message: string
  /** What the user can do with a failed new order. For a failed replacement this depends on the order to be replaced. */
  readonly advice?: string
  readonly rejectCode: RejectCode | null
  readonly brokerStatus: string | null
}

const UNSETTLED: ReadonlySet<Submission['state']> = new Set(['submitting', 'unknown'])

/** Whether it is known if the broker has the order, either way. */
export function acknowledged(order: Order): boolean {
  return !UNSETTLED.has(order.submission.state)
}

/**
 * Whether the broker has yet to answer: the submission of an open order, or a cancel or replace of one, including those requested
 * elsewhere.
 */
export function awaitsAnswer(order: Order): boolean {
  return isOpen(order.status) && (!acknowledged(order) || order.pendingRequest !== null || isChanging(order))
}

/** Whether a cancel or replace of the order is pending. */
export function isChanging({ status }: Order): boolean {
  return status === 'pending_cancel' || status === 'pending_replace'
}

/** Whether the order is recorded as one that the broker never had. */
export function isThoughtAbsent({ submission }: Order): boolean {
  const { state } = submission
  return state === 'not_received' || isNeverSent(state) || state === 'refused'
}

/** An order that the broker has after all. Its status is final, so its message must not say any more that it is safe to place it again. */
export function sightedLate(order: Order): Order {
  return { ...order, brokerMessage: SIGHTED_LATE }
}

const SIGHTED_LATE =
  'The broker has this order after all, although it did not show it before. The status here is final, and fills are counted: cancel the order at the broker if it is not wanted.'

/** Whether the order was never sent. */
function isNeverSent(state: Submission['state']): boolean {
  return state === 'not_sent' || state === 'refused_by_gateway'
}

/** The recorded reason why a submission failed; null if it did not, or if that is unknown. */
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

/** The failure of a refused submission: refused by the broker, or by the adapter before it was sent. */
export function refusal({ message, rejectCode, brokerStatus, isUnsent }: Extract<Outcome<never>, { kind: 'refused' }>): SubmissionFailure {
  if (isUnsent !== true) return { state: 'refused', message, rejectCode, brokerStatus }
  return { state: 'refused_by_gateway', message: `${message} It was not sent to the broker.`, rejectCode, brokerStatus: null }
}

type RequestKind = 'order' | 'modification'

/** The failure of a submission that was proved not to be sent, with a message for the user. It is no rejection by the broker. */
export function notSent(what: RequestKind, cause: unknown): SubmissionFailure {
  const failure = { state: 'not_sent', rejectCode: null, brokerStatus: null } as const
  if (cause instanceof BrokerFault && cause.kind === 'credentials_rejected') {
    const message = `The ${what} was not sent: the broker no longer accepts the login. Have the user connect again.`
    return { ...failure, message, advice: 'Then place it under a new cl_order_id.' }
  }
  return { ...failure, message: `The ${what} was not sent to the broker (${whyNotSent(cause)}).`, advice: SAFE }
}

/** A fault of ours has no message for users; the log has it. */
function whyNotSent(cause: unknown): string {
  const isOurs = [TypeError, RangeError, ReferenceError, SyntaxError].some(type => cause instanceof type)
  return cause instanceof Error && !isOurs ? cause.message.slice(0, 200).replace(/\.$/, '') : 'the service could not make the request'
}

/** The failure of a submission that the broker was proved not to have, with a message for the user. It is no rejection by the broker. */
export function notReceived(what: RequestKind): SubmissionFailure {
  const messages = {
    order: 'The broker never received the order: it was looked up repeatedly and is not there.',
    modification: 'The modification did not take effect.'
  }
  return { state: 'not_received', message: messages[what], advice: SAFE, rejectCode: null, brokerStatus: null }
}

const SAFE = 'It is safe to place it again under a new cl_order_id.'

/** A replacement that the broker accepted and did not carry out within the time allowed. */
export const NOT_APPLIED: SubmissionFailure = {
  state: 'not_received',
  message: 'The broker accepted the change but did not carry it out.',
  rejectCode: null,
  brokerStatus: null
}

/** Ends an order that the broker never had. Does nothing if the broker is known to have it. */
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

/** Marks a submission as of unknown outcome. The status stays pending. */
export function submissionUnknown(order: Order, method: 'reply' | 'recovery', at: Timestamp): Next | null {
  if (order.submission.state !== 'submitting') return null
  return { order: { ...order, submission: { ...order.submission, state: 'unknown', since: at, method } } }
}

/** Sets the cum qty of all orders that `order` replaced, from its predecessor `before`. It can only grow. */
export function continuing(order: Order, before: Order, at: Timestamp): Order {
  const previouslyFilledQuantity = filledAlong(before)
  if (order.previouslyFilledQuantity !== null && compare(order.previouslyFilledQuantity, previouslyFilledQuantity) >= 0) return order
  return { ...order, previouslyFilledQuantity, systemTime: at }
}

/** Ends a pending cancel or replace that failed: the order is working or partially filled again, depending on its fills. */
export function released(order: Order, message: string | null, at: Timestamp): Next | null {
  const step = apply(order, { type: 'status', to: order.fills.length > 0 ? 'partially_filled' : 'working', at, releases: true })
  return step.changed ? { order: { ...step.order, brokerMessage: message, systemTime: at } } : null
}

/**
 * Requests the cancel of an order. If a replacement is pending, the cancel is stored with it and applies to the order that remains.
 * Returns null if a cancel is requested already. @throws ServiceError order_not_open.
 */
export function cancelRequested(order: Order, at: Timestamp): Next | null {
  const { status, pendingRequest, revision: ofRevision } = order
  if (status === 'pending_cancel' || isCancelRequested(order)) return null
  if (status === 'pending_replace' && pendingRequest?.kind === 'replace')
    return {
      order: { ...order, pendingRequest: { ...pendingRequest, cancelRequestedAt: at }, lastModifiedTime: later(order.lastModifiedTime, at) }
    }
  if (order.status === 'pending') {
    // The broker may not have the order yet, so nothing can be sent: the request waits for the acknowledgement.
    const pendingRequest = { kind: 'cancel', requestedAt: at, sentAt: null, successorId: null, takenAt: null, ofRevision } as const
    return { order: { ...order, pendingRequest, lastModifiedTime: later(order.lastModifiedTime, at) } }
  }
  const step = apply(order, { type: 'status', to: 'pending_cancel', at })
  if (!step.changed) throw notOpen(order, 'cancelled')
  const request = { kind: 'cancel', requestedAt: at, sentAt: at, successorId: null, takenAt: null, ofRevision } as const
  return { order: { ...step.order, pendingRequest: request } }
}

/**
 * The order as working, if the broker acknowledged it without confirming that it is live. A cancel or replace can then be requested, and
 * the broker decides on it.
 */
export function held(order: Order, at: Timestamp): Order {
  return order.status === 'pending' && acknowledged(order) ? apply(order, { type: 'status', to: 'working', at }).order : order
}

/** Whether a cancel is requested, alone or together with a pending replace. */
export function isCancelRequested({ pendingRequest }: Order): boolean {
  return pendingRequest?.kind === 'cancel' || pendingRequest?.cancelRequestedAt !== undefined
}

/** Requests the order's replacement. @throws ServiceError order_not_open. */
export function replaceRequested(order: Order, successorId: Order['orderId'], at: Timestamp): Next {
  // A waiting cancel would be lost.
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
