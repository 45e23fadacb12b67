import type { CancelResult, ErrorCode, Order, Problem } from './generated/openapi.ts'

/** What can go wrong besides what the service answers. */
export type ClientErrorCode =
  /** There was no connection, or it broke. */
  | 'connection_failed'
  | 'timed_out'
  /** What came is no answer of the service: cut off, not JSON, too long, a redirect, or a page of a proxy. */
  | 'answer_unreadable'
  /** By the caller's signal. An order that was on its way (`clOrderId`) may exist or not, unless `nothingDone` is true. */
  | 'aborted'
  /** The order may exist or not. Find it with `orders.list({ cl_order_id })` before it is placed again. */
  | 'outcome_unknown'
  /** Another order has this `cl_order_id`: `order` is that one. Nothing was placed. */
  | 'cl_order_id_taken'
  /** The user exists, and the answer with the secret was lost: `users.rotateSecret` issues a new one. */
  | 'user_secret_lost'
  /** The log no longer reaches back to `after`: read a snapshot of the records instead. */
  | 'events_missing'
  /** An option of the client, a credential or a parameter cannot be used. */
  | 'setting_invalid'

/** A code of the service or of the client. Later versions of the service may have others. */
export type AnyErrorCode = ErrorCode | ClientErrorCode | (string & {})

/** Every failure of a call. It never contains a secret. */
export class TrunklineError extends Error {
  override readonly name = 'TrunklineError'
  declare readonly code: AnyErrorCode
  /** The HTTP status; null if there was no answer. */
  readonly status: number | null = null
  /** Names the request in the logs of the service. */
  readonly requestId: string | null = null
  /** The fields or parameters that are wrong. */
  readonly details: NonNullable<Problem['details']> = []
  /** The order that the error is about, where the service named one. */
  readonly orderId: string | null = null
  /** The id under which the call placed an order, or tried to. */
  readonly clOrderId: string | null = null
  /** With `cl_order_id_taken` and `outcome_unknown`: the order that was found under the id. */
  readonly order: Order | null = null
  /** What `cancelAll` had done by then. */
  readonly results: readonly CancelResult[] = []
  /** How long the service asks to wait. */
  readonly retryAfterMs: number | null = null
  /** Nothing was stored or sent: no request of the call left, or the service refused each before it did anything. */
  readonly nothingDone: boolean = false
  /** The very same request may succeed later, and does nothing twice. */
  readonly retrySafe: boolean = false

  constructor(code: AnyErrorCode, message: string, known: ErrorFacts = {}) {
    super(message)
    Object.assign(this, known, { code })
  }
}

/** What is known of a failure. */
export type ErrorFacts = Partial<Omit<TrunklineError, 'name' | 'code' | 'message' | 'stack' | 'cause'>>
