import type { ShownDelivery } from '@trunkline/core/app/webhooks/deliveries'
import type { EndpointEdit } from '@trunkline/core/app/webhooks/endpoints'
import { ORDER_STATUSES } from '@trunkline/core/domain/vocabulary'
import { DISABLED_REASONS, EVENT_TOPICS, type WebhookEndpoint, type WebhookFilter } from '@trunkline/core/domain/webhook'
import { REPLAY_EVENTS_MAX, type WebhookTest } from '@trunkline/core/ports/webhook-requests'
import { LAG_EVENTS_MAX, LAG_USERS_MAX, WEBHOOK_FAILURES, type WebhookLag } from '@trunkline/core/ports/webhook-store'
import Type, { type Static } from 'typebox'
import { nullable, oneOf, page, record, ticket, timestamp, uuid } from './common.ts'

const url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  examples: ['https://hooks.example.com/trunkline'],
  description: 'Where updates are posted: `https`, to a public address. The operator can allow networks of their own.',
  'x-expected': 'an https URL of at most 2048 characters'
})
const description = Type.String({ maxLength: 200, description: 'For the platform’s people.', examples: ['production'] })
const topics = nullable(
  Type.Array(oneOf(EVENT_TOPICS), { minItems: 1, maxItems: EVENT_TOPICS.length, uniqueItems: true }),
  'Which updates are sent; null: all.'
)
const orderStatuses = nullable(
  Type.Array(oneOf(ORDER_STATUSES), { minItems: 1, maxItems: ORDER_STATUSES.length, uniqueItems: true }),
  'Of orders, only updates with one of these `normalized_status`; null: all.'
)
const seq = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** What is changed of an endpoint. */
export const endpointEdit = ticket('WebhookEndpointEdit', {
  url: Type.Optional(url),
  description: Type.Optional(description),
  topics: Type.Optional(topics),
  order_statuses: Type.Optional(orderStatuses)
})

export const endpointTicket = ticket('NewWebhookEndpoint', {
  url,
  description: Type.Optional(description),
  topics: Type.Optional(topics),
  order_statuses: Type.Optional(orderStatuses)
})

export const endpointChange = ticket('WebhookEndpointChange', {
  ...endpointEdit.properties,
  enabled: Type.Optional(Type.Boolean({ description: 'An endpoint that is enabled again goes on where it was.' }))
})

export const rotation = ticket('WebhookKeyRotation', {
  overlap_hours: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 168, default: 24, description: 'How long the old keys sign beside the new ones.' })
  )
})

export const replayTicket = ticket('WebhookReplay', {
  message_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'The `webhook-id` of a message. Send either this or the others.' })
  ),
  user_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  from_seq: Type.Optional({ ...seq, description: 'The first update that is sent again.' }),
  to_seq: Type.Optional({ ...seq, description: `The last one; at most ${REPLAY_EVENTS_MAX} are sent again.` })
})

const endpointFields = {
  endpoint_id: uuid,
  url: Type.String(),
  description: Type.String(),
  topics,
  order_statuses: orderStatuses,
  created_at: timestamp,
  disabled_at: nullable(timestamp, 'Null while it is enabled.'),
  disabled_reason: nullable(
    oneOf(DISABLED_REASONS),
    '`requested`: by the platform; `gone`: the endpoint answered 410; `failing`: no attempt has succeeded for five days.'
  ),
  last_success_at: nullable(timestamp, 'The start of the last attempt that succeeded, within a second; null: none has.'),
  failing_since: nullable(timestamp, 'The first attempt that failed since one succeeded; null: the last one succeeded, or there was none.')
}
const publicKeys = Type.Array(Type.String(), {
  description: 'Ed25519 keys (`whpk_…`) whose signatures (`v1a`) messages have now, the current one first.'
})

const lag = record('WebhookLag', 'What was logged, passes the filter, and was not received yet.', {
  users: Type.Integer({ description: 'Users with such updates.' }),
  updates: Type.Integer({
    description:
      'Their updates. Those that the filter passes over are not counted; what the log has no more counts as one for each user (`events_erased`).'
  }),
  is_lower_bound: Type.Boolean({
    description: `Whether there may be more: counting ends at ${LAG_USERS_MAX.toLocaleString('en-US')} users, and with a filter at ${LAG_EVENTS_MAX.toLocaleString('en-US')} updates that it was asked about.`
  }),
  oldest_at: nullable(timestamp, 'When the oldest of these updates was logged; null: the log has none of them.')
})

export const endpointRecord = record('WebhookEndpoint', 'An endpoint that receives updates.', endpointFields)
/** As operators list endpoints. */
export const endpointWithLag = record('OperatorWebhookEndpoint', 'A webhook endpoint of a platform, and how far it is behind.', {
  platform_id: uuid,
  ...endpointFields,
  lag
})
export const endpointList = Type.Array(endpointRecord)

export const endpointDetail = record('WebhookEndpointDetail', 'An endpoint, its keys, and how far it is behind.', {
  ...endpointFields,
  public_keys: publicKeys,
  lag
})

export const endpointWithSecret = record('WebhookEndpointWithSecret', 'An endpoint and its new secret.', {
  ...endpointFields,
  public_keys: publicKeys,
  secret: Type.String({ description: 'Verifies the signature `v1` of each message. Shown once; store it.', examples: ['whsec_…'] })
})

export const deletedEndpoint = record('DeletedWebhookEndpoint', 'The endpoint that was deleted.', { endpoint_id: uuid })

export const acceptedReplay = record('AcceptedWebhookReplay', 'What is being sent again.', {
  endpoint_id: uuid,
  from_seq: Type.Integer(),
  to_seq: Type.Integer()
})

const deliveryFields = {
  delivery_id: uuid,
  message_id: Type.String({ description: 'The `webhook-id`: the same for each attempt of a message.' }),
  reason: oneOf(['event', 'retry', 'replay', 'test'], { description: 'Why the attempt was made.' }),
  user_id: nullable(Type.String(), 'Null: a test message.'),
  from_seq: nullable(Type.Integer(), 'The first update of the message; null: a test message.'),
  to_seq: nullable(Type.Integer(), 'The last one.'),
  updates: Type.Integer({ description: 'How many updates it has.' }),
  attempt: Type.Integer({ description: 'From 1, for each message.' }),
  started_at: timestamp,
  took_ms: Type.Integer({ description: 'Until the answer had ended, or the attempt had failed.' }),
  status: nullable(Type.Integer(), 'Of the answer; null: there was none.'),
  failure: nullable(
    oneOf(WEBHOOK_FAILURES),
    'Null: the endpoint answered with a status from 200 to 299. `status`: it answered with another one; `redirect`: redirects are not followed.'
  ),
  retry_at: nullable(timestamp, 'When the message is tried again; null: it is not.')
}

export const deliveryRecord = record('WebhookDelivery', 'One attempt to send a message.', deliveryFields)
export const testRecord = record('WebhookTest', 'A test message that was sent, and how the attempt ended.', {
  ...deliveryFields,
  is_kept: nullable(
    Type.Boolean({ description: 'Whether it is among the deliveries. False: it was sent, and could not be kept.' }),
    'Null: it was sent, and it is not known whether it was kept.'
  )
})
export const deliveryPage = page('WebhookDeliveryPage', deliveryRecord)
export const deliveryDetail = record('WebhookDeliveryDetail', 'One attempt, with what was sent and answered.', {
  ...deliveryFields,
  request_headers: Type.Array(record('SentHeader', 'A header that was sent.', { name: Type.String(), value: Type.String() })),
  request_bytes: Type.Integer(),
  request_body: nullable(Type.String(), 'The body, made again from the log; null: the log does not have all of it any more.'),
  answer_body: nullable(Type.String(), 'The first 4 KiB; null: there was no answer.'),
  answer_is_cut: Type.Boolean({ description: 'Whether the answer was longer.' })
})

export function filterOf({ topics: wanted, order_statuses: statuses }: Static<typeof endpointTicket>): WebhookFilter {
  return { topics: wanted ?? null, orderStatuses: statuses ?? null }
}

/** The fields that are given, as the use case takes them. */
export function editOf({
  url: address,
  description: text,
  topics: wanted,
  order_statuses: statuses
}: Static<typeof endpointEdit>): EndpointEdit {
  const filter = {
    ...(wanted !== undefined && { topics: wanted }),
    ...(statuses !== undefined && { orderStatuses: statuses })
  }
  return {
    ...(address !== undefined && { url: address }),
    ...(text !== undefined && { description: text }),
    ...(Object.keys(filter).length > 0 && { filter })
  }
}

export function presentEndpoint(endpoint: WebhookEndpoint): Static<typeof endpointRecord> {
  const { filter, disabled } = endpoint
  return {
    endpoint_id: endpoint.endpointId,
    url: endpoint.url,
    description: endpoint.description,
    topics: filter.topics === null ? null : [...filter.topics],
    order_statuses: filter.orderStatuses === null ? null : [...filter.orderStatuses],
    created_at: endpoint.createdAt,
    disabled_at: disabled?.at ?? null,
    disabled_reason: disabled?.reason ?? null,
    last_success_at: endpoint.lastSuccessAt,
    failing_since: endpoint.failingSince
  }
}

export function presentLag({ users, events, isLowerBound, oldestAt }: WebhookLag): Static<typeof endpointDetail>['lag'] {
  return { users, updates: events, is_lower_bound: isLowerBound, oldest_at: oldestAt }
}

export function presentTest({ delivery, isKept }: WebhookTest): Static<typeof testRecord> {
  return { ...presentDelivery({ delivery, userId: null }), is_kept: isKept }
}

export function presentDelivery({ delivery, userId }: ShownDelivery): Static<typeof deliveryRecord> {
  const { events, answer } = delivery
  return {
    delivery_id: delivery.deliveryId,
    message_id: delivery.messageId,
    reason: delivery.reason,
    user_id: userId,
    from_seq: events?.from ?? null,
    to_seq: events?.to ?? null,
    updates: events?.count ?? 0,
    attempt: delivery.attempt,
    started_at: delivery.startedAt,
    took_ms: delivery.tookMs,
    status: answer?.status ?? null,
    failure: delivery.failure,
    retry_at: delivery.retryAt
  }
}

export function presentDeliveryDetail(shown: ShownDelivery & { readonly body: string | null }): Static<typeof deliveryDetail> {
  const { answer, requestHeaders, requestBytes } = shown.delivery
  return {
    ...presentDelivery(shown),
    request_headers: Object.entries(requestHeaders).map(([name, value]) => ({ name, value })),
    request_bytes: requestBytes,
    request_body: shown.body,
    answer_body: answer?.body ?? null,
    answer_is_cut: answer?.isCut ?? false
  }
}
