import type { OrderId } from './ids.ts'

/** Every way a request can fail, by its stable code. Each protocol maps codes to its own status. */
export const ERROR_CODES = [
  'credentials_invalid',
  'entitlement_missing',
  'scope_missing',
  'path_invalid',
  'query_invalid',
  'header_invalid',
  'body_malformed',
  'field_invalid',
  'user_not_found',
  'connection_not_found',
  'account_not_found',
  'order_not_found',
  'webhook_endpoint_not_found',
  'webhook_delivery_not_found',
  'route_not_found',
  'method_not_allowed',
  'upgrade_required',
  'platform_not_found',
  'platform_disabled',
  'user_exists',
  'cl_order_id_duplicate',
  'connection_broken',
  'connection_claimed',
  'claim_refused',
  'session_exists',
  'webhook_endpoint_limit',
  'webhook_endpoint_disabled',
  'order_not_open',
  'order_not_settled',
  'order_not_supported',
  'market_data_unsupported',
  'preview_unsupported',
  'order_not_repeatable',
  'user_not_tradable',
  'sandbox_absent',
  'sandbox_refused',
  'body_too_large',
  'headers_too_large',
  'request_too_slow',
  'rate_limited',
  'broker_unavailable',
  'login_provider_unavailable',
  'sandbox_unavailable',
  'store_unavailable',
  'shutting_down',
  'internal'
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/** An error in one field: `path` in the request's notation (`legs.0.symbol`), `message` with what was expected and found. */
export interface ErrorDetail {
  readonly path: string
  readonly message: string
}

/** An expected failure. `message` states what was expected, what was found and what to do; it never contains a secret. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[]
  /** Seconds after which a retry makes sense, if known. */
  readonly retryAfterSeconds: number | undefined
  /** The caller's own order that conflicts with the request. */
  readonly orderId: OrderId | undefined

  constructor(
    code: ErrorCode,
    message: string,
    more: {
      readonly details?: readonly ErrorDetail[]
      readonly retryAfterSeconds?: number
      readonly orderId?: OrderId
      readonly cause?: unknown
    } = {}
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.code = code
    this.details = more.details ?? []
    this.retryAfterSeconds = more.retryAfterSeconds
    this.orderId = more.orderId
  }
}
