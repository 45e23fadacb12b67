// What each error code means for the client that gets it.
import type { ErrorCode } from '@trunkline/core/domain/errors'

/**
 * When the same request may be sent again. `later`: as it is, after a while; nothing was done. `changed`: not before something else is
 * changed; nothing was done. `look`: read the resource first; what was asked for may have been done.
 */
export type Again = 'later' | 'changed' | 'look'

export interface Meaning {
  /** When it occurs. */
  readonly meaning: string
  /** What to do. */
  readonly remedy: string
  readonly again: Again
}

export const MEANINGS: { readonly [code in ErrorCode]: Meaning } = {
  credentials_invalid: {
    meaning:
      'The credentials are missing, wrong, expired or disabled; or the key may not be used from this address. Which of these it is, is not said.',
    remedy:
      'Check `client-id` and `client-secret`, and for a user’s data `user-id` and `user-secret`. After a rotation, use the new secret. An operator sees the reason in the log.',
    again: 'changed'
  },
  entitlement_missing: {
    meaning: 'The user connected the broker for something else: a `readonly` connection takes no orders.',
    remedy: 'Have the user connect the broker again, with the `connection_type` that you need.',
    again: 'changed'
  },
  scope_missing: {
    meaning: 'The platform’s key does not have the scope that the operation needs: `read`, `trade` or `users`.',
    remedy: 'Use a key with this scope. The operator of the service issues keys.',
    again: 'changed'
  },
  path_invalid: {
    meaning: 'A part of the path is not what it stands for, such as an `order_id` that is no UUID.',
    remedy: 'Correct the part that `details` names.',
    again: 'changed'
  },
  query_invalid: {
    meaning: 'A query parameter is unknown, given twice, missing or not valid; or a cursor belongs to another list, or to other filters.',
    remedy: 'Correct what `details` names. Send a cursor only with the filters and the sort that it came with.',
    again: 'changed'
  },
  header_invalid: {
    meaning: 'A header is given twice or has a value that it cannot have.',
    remedy: 'Correct the header that `details` names. Some proxies add headers a second time.',
    again: 'changed'
  },
  body_malformed: {
    meaning: 'The body is not JSON, or is sent without `content-type: application/json`.',
    remedy: 'Send JSON in UTF-8, with the content type.',
    again: 'changed'
  },
  field_invalid: {
    meaning: 'A field of the body is missing, unknown or not valid, alone or together with others.',
    remedy: 'Correct the fields that `details` names: `path` is the field, `message` says what it must be.',
    again: 'changed'
  },
  user_not_found: {
    meaning: 'Your platform has no user with this `user_id`.',
    remedy: 'Create the user first, or check the id: it is compared exactly.',
    again: 'changed'
  },
  connection_not_found: {
    meaning: 'The user has no connection with this `connection_id`. It may have been deleted.',
    remedy: 'List the user’s connections.',
    again: 'changed'
  },
  account_not_found: {
    meaning: 'The user has no account with this `account_id`. It may have gone with its connection.',
    remedy: 'List the user’s accounts.',
    again: 'changed'
  },
  order_not_found: {
    meaning: 'The user has no order with this `order_id`, or the account named in the path does not.',
    remedy: 'List the user’s orders. An order is found by its `cl_order_id` too.',
    again: 'changed'
  },
  webhook_endpoint_not_found: {
    meaning: 'Your platform has no webhook endpoint with this `endpoint_id`. It may have been deleted.',
    remedy: 'List the endpoints.',
    again: 'changed'
  },
  webhook_delivery_not_found: {
    meaning: 'The endpoint has no delivery with this id, or none any more: deliveries are kept for 30 days.',
    remedy: 'List the deliveries of the endpoint. Events can be sent again by `user_id` and `seq`.',
    again: 'changed'
  },
  route_not_found: {
    meaning: 'There is nothing at this address.',
    remedy: 'Compare the address with the reference.',
    again: 'changed'
  },
  method_not_allowed: {
    meaning: 'The address does not take this method.',
    remedy: 'Use one of the methods in the `allow` header.',
    again: 'changed'
  },
  upgrade_required: {
    meaning: 'The address is that of a stream, and the request is plain HTTP.',
    remedy: 'Open a WebSocket there. If you did, a proxy between has removed the upgrade: configure it to pass WebSockets.',
    again: 'changed'
  },
  platform_not_found: {
    meaning: 'The platform of the request does not exist any more.',
    remedy: 'Ask the operator of the service.',
    again: 'changed'
  },
  platform_disabled: {
    meaning: 'An operator disabled the platform, and what was asked for needs one that is enabled.',
    remedy: 'Have an operator of the service enable the platform.',
    again: 'changed'
  },
  user_exists: {
    meaning: 'Your platform has a user with this `user_id` already.',
    remedy: 'Use that user. If the answer with its secret was lost, rotate the secret.',
    again: 'changed'
  },
  cl_order_id_duplicate: {
    meaning: 'The `cl_order_id` was used on this trading day: by the order that `order_id` names. Nothing was placed now.',
    remedy:
      'Read that order first: if you repeated a request, or something on the way did, it is yours. A new `cl_order_id` is another order.',
    again: 'changed'
  },
  connection_broken: {
    meaning: 'The broker no longer accepts the login of this connection.',
    remedy: 'Have the user connect the broker again; the connection keeps its id, its accounts and its orders.',
    again: 'changed'
  },
  connection_claimed: {
    meaning: 'The connection was claimed before.',
    remedy: 'If you repeated a request whose answer was lost, it worked: list the user’s connections.',
    again: 'changed'
  },
  claim_refused: {
    meaning: 'The `claim_code` is wrong, or its time is over.',
    remedy: 'Have the user connect again.',
    again: 'changed'
  },
  session_exists: {
    meaning: 'For operators only: this browser has a session, which a login by the provider does not replace.',
    remedy: 'Go on with that session, or sign out first.',
    again: 'changed'
  },
  webhook_endpoint_limit: {
    meaning: 'Your platform has as many webhook endpoints as it may have.',
    remedy: 'Delete one, or let one endpoint receive for several purposes.',
    again: 'changed'
  },
  webhook_endpoint_disabled: {
    meaning: 'The webhook endpoint is disabled, so nothing is sent to it.',
    remedy: 'Enable it. It then goes on where it was, and needs no replay for what came meanwhile.',
    again: 'changed'
  },
  order_not_open: {
    meaning: 'The order has ended, so it can be neither changed nor cancelled.',
    remedy: 'Read the order: it may have filled. After a lost answer to a cancel, the first request may have ended it.',
    again: 'changed'
  },
  order_not_settled: {
    meaning:
      'An operator asked to end an order that the broker never received, and that cannot be said of it: its outcome is known, it may still be on its way or at the broker, or the set of orders has changed.',
    remedy: 'Do what the message says. Where several orders were to be ended, it names those that were: read the others again.',
    again: 'look'
  },
  order_not_supported: {
    meaning: 'The broker does not take an order like this. `GET /brokers` lists what each takes. Nothing was sent to the broker.',
    remedy: 'Change what `details` names, or use another broker.',
    again: 'changed'
  },
  market_data_unsupported: {
    meaning: 'The broker, or this login there, has no such market data.',
    remedy: 'Look up what the broker has in `GET /brokers`, or ask for another symbol.',
    again: 'changed'
  },
  preview_unsupported: {
    meaning: 'The broker has no order preview.',
    remedy: 'Look at `order_preview` in `GET /brokers`. The order can be placed without a preview.',
    again: 'changed'
  },
  order_not_repeatable: {
    meaning: 'In the API for operators only: the order cannot be placed again in the sandbox. Nothing was placed.',
    remedy: 'The message says what is missing: the symbol, the broker, or a login without a fault.',
    again: 'changed'
  },
  user_not_tradable: {
    meaning:
      'In the API for operators only: operators trade for enabled users all of whose connections are to the sandbox, and this user is none of them. Nothing was placed, cancelled or read.',
    remedy: 'Use a user who has connections to the sandbox only; the message says what this one has instead.',
    again: 'changed'
  },
  sandbox_absent: {
    meaning:
      'In the API for operators only: the service did not start the sandbox itself, so it does not control it; or the one it started has ended.',
    remedy:
      'Use the control API of that sandbox, on its machine; or offer a broker in the sandbox and start the service again, which starts the sandbox too.',
    again: 'changed'
  },
  sandbox_refused: {
    meaning: 'In the API for operators only: the sandbox does not do what was asked. The message has its reason. Nothing was changed.',
    remedy: 'Change what the message names.',
    again: 'changed'
  },
  body_too_large: {
    meaning: 'The body is larger than 256 KiB. It was not read to its end.',
    remedy: 'Send a smaller body.',
    again: 'changed'
  },
  headers_too_large: {
    meaning: 'The headers are larger than 16 KiB.',
    remedy: 'Send fewer or shorter headers. Cookies of other services on the same host count too.',
    again: 'changed'
  },
  request_too_slow: {
    meaning: 'The request did not arrive completely in time. It was not carried out.',
    remedy: 'Send it again over a better connection.',
    again: 'later'
  },
  rate_limited: {
    meaning: 'The key, the user or the address has sent too many requests. This one was not carried out.',
    remedy: 'Wait for the seconds in `retry-after`. The `ratelimit-` headers of every answer say how much is left.',
    again: 'later'
  },
  broker_unavailable: {
    meaning: 'The broker does not answer, or its rate limit is used up, and there is no earlier record to show.',
    remedy: 'Try again after the seconds in `retry-after`. The health of the connection says how long this has lasted.',
    again: 'later'
  },
  login_provider_unavailable: {
    meaning:
      'For operators only: the provider that operators log in with did not answer, or its answer could not be read. Nobody was logged in.',
    remedy: 'Try again, or log in with a code of `operator link`, which needs no provider. `check-config` tries the provider.',
    again: 'later'
  },
  sandbox_unavailable: {
    meaning:
      'In the API for operators only: the sandbox gave no answer that can be read. The message says whether a change may have been made.',
    remedy: 'Read the state of the sandbox, then repeat what was not done. If the sandbox has ended, start the service again.',
    again: 'later'
  },
  store_unavailable: {
    meaning: 'The service cannot reach its database, or moves the user to another node. Nothing was changed.',
    remedy: 'Try again after the seconds in `retry-after`.',
    again: 'later'
  },
  shutting_down: {
    meaning: 'The service, or this node of it, is being stopped. The request was not carried out.',
    remedy: 'Send it again: another node takes it, or the service once it has started.',
    again: 'later'
  },
  internal: {
    meaning: 'Something unexpected happened, or it is unknown whether a change was stored.',
    remedy:
      'Read the resource before you send the request again: an order by its `cl_order_id`. If it persists, give the operator the `request_id`.',
    again: 'look'
  }
}
