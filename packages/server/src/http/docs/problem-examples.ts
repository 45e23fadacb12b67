// One example for each error code. All operations that return the code share it.
import type { ErrorCode, ErrorDetail } from '@trunkline/core/domain/errors'

interface Example {
  readonly message: string
  readonly details?: readonly ErrorDetail[]
  readonly order_id?: string
}

const about = (path: string, message: string): Example => ({ message: `${path} ${message}.`, details: [{ path, message }] })

const EXAMPLES: { readonly [code in ErrorCode]: Example } = {
  credentials_invalid: { message: 'The client-id or the client-secret is wrong.' },
  entitlement_missing: { message: 'This connection is readonly and takes no orders; connect again with connection_type trade.' },
  scope_missing: { message: 'This needs a key with the scope trade.' },
  path_invalid: about('order_id', 'must be a UUID, was "first"'),
  query_invalid: about('limit', 'must be an integer from 1 to 500, was "1000"'),
  header_invalid: about('content-length', 'must be a number'),
  body_malformed: { message: 'The body is not valid JSON.' },
  field_invalid: about('order_limit_price', 'is required for order_type LMT'),
  user_not_found: { message: 'There is no user with this user_id on your platform.' },
  connection_not_found: { message: 'The user has no connection with this connection_id.' },
  account_not_found: { message: 'The user has no account with this account_id.' },
  order_not_found: { message: 'The user has no order with this order_id.' },
  webhook_endpoint_not_found: { message: 'The platform has no webhook endpoint with this endpoint_id.' },
  webhook_delivery_not_found: { message: 'The endpoint has no delivery with this delivery_id; it may have been erased.' },
  route_not_found: { message: 'There is nothing at this address; the reference at /docs lists every address.' },
  method_not_allowed: { message: 'This address takes GET and HEAD.' },
  upgrade_required: { message: 'This address is for WebSockets.' },
  platform_not_found: { message: 'There is no such platform.' },
  platform_disabled: { message: 'The platform is disabled, and gets no webhook endpoints; enable it first.' },
  user_exists: { message: 'There is a user with this user_id already.' },
  cl_order_id_duplicate: {
    message:
      'This cl_order_id was used today by order 01a1fc40-bac8-7000-9fad-169d6cee0b61. Read that order first: it may be of this request, sent twice on the way. A new cl_order_id is another order.',
    order_id: '01a1fc40-bac8-7000-9fad-169d6cee0b61'
  },
  connection_broken: { message: 'The broker no longer accepts this connection; have the user connect this broker again.' },
  connection_claimed: { message: 'This connection was claimed already.' },
  claim_refused: { message: 'The claim_code is wrong or no longer good; have the user connect again.' },
  session_exists: { message: 'This browser is logged in as ada@host already; sign out first to log in as somebody else.' },
  webhook_endpoint_limit: { message: 'The platform has 16 endpoints, the maximum; delete one of them.' },
  webhook_endpoint_disabled: { message: 'The endpoint is disabled; enable it first, and it goes on where it was.' },
  order_not_open: { message: 'The order is filled and can no longer be changed.' },
  order_not_settled: { message: 'The order may still be on its way. Try again in 42 seconds.' },
  order_not_supported: about(
    'order_tif',
    'FOK is not offered by Tradier as a time in force for LMT orders of STK; it takes DAY, GTC, DAY+'
  ),
  market_data_unsupported: { message: 'The broker has no market data of this symbol.' },
  preview_unsupported: { message: 'Alpaca has no order preview; `order_preview` in GET /brokers says which brokers have one.' },
  order_not_repeatable: { message: 'The sandbox has no XYZ, so the order cannot be repeated there.' },
  user_not_tradable: {
    message:
      'Operators trade only for users all of whose connections are to the sandbox. This one has a connection to ALPACA, which is paper: use another user.'
  },
  sandbox_absent: {
    message:
      'This service has started no sandbox, because it offers no broker there. Offer SANDBOX (TRUNKLINE_BROKERS), and start the service again.'
  },
  sandbox_refused: { message: 'The sandbox refuses: the market lists no "NOPE"; see its instruments' },
  body_too_large: { message: 'The body is larger than 256 KiB, the maximum.' },
  headers_too_large: { message: 'The headers are larger than 16 KiB, the maximum.' },
  request_too_slow: { message: 'The request did not arrive in time.' },
  rate_limited: { message: 'Too many requests. Wait for the time in the retry-after header, then send fewer.' },
  broker_unavailable: { message: 'The broker does not respond, and no earlier data is stored; try again later.' },
  login_provider_unavailable: {
    message:
      'login.example.com did not answer. Nobody was logged in. Try again shortly, or log in with a code: npm run cli -- operator link'
  },
  sandbox_unavailable: {
    message: 'The sandbox gave no answer. Whether the change was made is unknown: read the state before you repeat it.'
  },
  store_unavailable: { message: 'The service cannot reach its database; nothing was changed. Try again shortly.' },
  shutting_down: { message: 'The service is shutting down; try again.' },
  internal: { message: 'An internal error occurred. Try again; if it persists, report the request_id to the operator.' }
}

/** The whole response body. */
export function problemExample(code: ErrorCode): object {
  const { message, ...more } = EXAMPLES[code]
  return { message, code, request_id: '01a1fc40-c1e3-7000-a4b5-2d3e4f5a6b70', ...more }
}
