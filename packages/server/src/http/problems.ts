import { type ErrorCode, type ErrorDetail, ServiceError } from '@trunkline/core/domain/errors'
import type { OrderId } from '@trunkline/core/domain/ids'
import type { Malformed } from '@trunkline/core/domain/malformed'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'

/** The HTTP status of each error code. No other module maps one to the other. */
export const HTTP_STATUS = {
  credentials_invalid: 401,
  entitlement_missing: 401,
  scope_missing: 401,
  path_invalid: 400,
  query_invalid: 422,
  header_invalid: 400,
  body_malformed: 400,
  field_invalid: 400,
  user_not_found: 404,
  connection_not_found: 404,
  account_not_found: 404,
  order_not_found: 404,
  webhook_endpoint_not_found: 404,
  webhook_delivery_not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  upgrade_required: 426,
  platform_not_found: 400,
  platform_disabled: 409,
  user_exists: 409,
  cl_order_id_duplicate: 409,
  connection_broken: 409,
  connection_claimed: 409,
  claim_refused: 409,
  session_exists: 409,
  webhook_endpoint_limit: 409,
  webhook_endpoint_disabled: 409,
  order_not_open: 400,
  order_not_settled: 409,
  order_not_supported: 400,
  market_data_unsupported: 422,
  preview_unsupported: 400,
  order_not_repeatable: 409,
  user_not_tradable: 409,
  sandbox_absent: 409,
  sandbox_refused: 409,
  body_too_large: 413,
  headers_too_large: 431,
  request_too_slow: 408,
  rate_limited: 429,
  broker_unavailable: 503,
  login_provider_unavailable: 503,
  sandbox_unavailable: 503,
  store_unavailable: 503,
  shutting_down: 503,
  internal: 500
} as const satisfies Record<ErrorCode, number>

/** Codes for which an endpoint returns another status than the table's. */
export type StatusOverrides = { readonly [code in ErrorCode]?: number }

/** An error as HTTP reports it. */
export interface Problem {
  readonly status: number
  readonly code: ErrorCode
  readonly message: string
  readonly details: readonly ErrorDetail[]
  readonly retryAfterSeconds: number | undefined
  /** The caller's order that conflicts with the request. */
  readonly orderId?: OrderId | undefined
  /** Set for an unexpected error: it is logged with its cause, and the client receives only the request id. */
  readonly unexpected: boolean
}

const UNEXPECTED_ERROR = 'An internal error occurred. Try again; if it persists, report the request_id to the operator.'
const COMMIT_UNKNOWN =
  'It is unknown whether this was stored. Read the resource before you send it again: a cl_order_id or user_id is never used twice.'
const RETRY_SECONDS = 1

/** Maps any thrown value to the error that the client receives. Never throws, and never reveals the message of an unexpected error. */
export function problemOf(error: unknown, overrides: StatusOverrides = {}): Problem {
  const { code, message, details, retryAfterSeconds, orderId } = known(error) ?? { code: 'internal' as const, message: UNEXPECTED_ERROR }
  return {
    status: overrides[code] ?? HTTP_STATUS[code],
    code,
    message,
    details: details ?? [],
    retryAfterSeconds,
    orderId,
    unexpected: code === 'internal'
  }
}

/** The body of every error response. */
export function problemBody({ message, code, details, orderId }: Problem, requestId: string): string {
  return JSON.stringify({
    message,
    code,
    request_id: requestId,
    ...(orderId !== undefined && { order_id: orderId }),
    ...(details.length > 0 && { details })
  })
}

interface Known {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: readonly ErrorDetail[]
  readonly retryAfterSeconds?: number | undefined
  readonly orderId?: OrderId | undefined
}

function known(error: unknown): Known | null {
  if (error instanceof ServiceError) return error
  if (error instanceof BrokerFault) return ofBroker(error)
  if (error instanceof StoreUnavailable) {
    const message = 'The service cannot reach its database; nothing was changed. Try again shortly.'
    return { code: 'store_unavailable', message, retryAfterSeconds: RETRY_SECONDS }
  }
  if (error instanceof CommitUnknown) return { code: 'internal', message: COMMIT_UNKNOWN }
  return ofFramework(error)
}

const BROKER_FAULTS = {
  unreachable: 'The broker does not respond',
  rate_limited: 'The broker’s rate limit leaves no capacity for this read just now',
  malformed: 'The broker’s answer cannot be read',
  refused: 'The broker refuses this read'
} as const

function ofBroker({ kind, retryAfterMs }: BrokerFault): Known {
  if (kind === 'credentials_rejected') {
    const message = 'The broker no longer accepts this login; have the user connect this broker again.'
    return { code: 'connection_broken', message }
  }
  const retryAfterSeconds = retryAfterMs === undefined ? 5 : Math.max(1, Math.ceil(retryAfterMs / 1_000))
  const message = `${BROKER_FAULTS[kind]}, and no earlier data is stored; try again later.`
  return { code: 'broker_unavailable', message, retryAfterSeconds }
}

/** The error for a field whose parser refused the value. */
export function fieldInvalid({ what, message }: Malformed): ServiceError {
  return new ServiceError('field_invalid', `${message}.`, { details: [{ path: what, message: message.slice(what.length + 1) }] })
}

const FRAMEWORK: ReadonlyMap<unknown, Known> = new Map<string, Known>([
  ['FST_ERR_CTP_BODY_TOO_LARGE', { code: 'body_too_large', message: 'The body is larger than 256 KiB, the maximum.' }],
  [
    'FST_ERR_CTP_INVALID_MEDIA_TYPE',
    { code: 'body_malformed', message: 'The body must be JSON, sent with the header content-type: application/json.' }
  ],
  [
    'FST_ERR_CTP_INVALID_CONTENT_LENGTH',
    { code: 'body_malformed', message: 'The length of the body differs from the content-length header.' }
  ],
  [
    'FST_ERR_BAD_URL',
    { code: 'path_invalid', message: 'The address contains a percent sign that does not begin valid percent-encoded UTF-8.' }
  ],
  ['FST_ERR_MAX_PARAM_LENGTH', { code: 'path_invalid', message: 'A part of the path is too long.' }]
])

function ofFramework(error: unknown): Known | null {
  return typeof error === 'object' && error !== null && 'code' in error ? (FRAMEWORK.get(error.code) ?? null) : null
}
