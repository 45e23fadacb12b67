/** The operations on webhook endpoints: names, inputs and outputs. */
import type { ShownDelivery } from '@trunkline/core/app/webhooks/deliveries'
import type { ShownEndpoint } from '@trunkline/core/app/webhooks/endpoints'
import { ORDER_STATUSES } from '@trunkline/core/domain/vocabulary'
import { EVENT_TOPICS, type WebhookEndpoint, type WebhookFilter } from '@trunkline/core/domain/webhook'
import type { WebhookTest } from '@trunkline/core/ports/webhook-requests'
import type { WebhookLag } from '@trunkline/core/ports/webhook-store'
import { field, oneOf, orNull, printable, texts, uuid, whole } from './inputs.ts'

export interface WebhookOperations {
  'webhook.list': { readonly input: PlatformOfWebhooks; readonly output: readonly WebhookView[] }
  'webhook.create': { readonly input: NewWebhook; readonly output: WebhookSecretView }
  'webhook.enable': { readonly input: NamedWebhook; readonly output: WebhookEndpoint }
  'webhook.disable': { readonly input: NamedWebhook; readonly output: WebhookEndpoint }
  'webhook.rotate': { readonly input: RotateWebhook; readonly output: WebhookSecretView }
  'webhook.deliveries': { readonly input: WantedDeliveries; readonly output: readonly ShownDelivery[] }
  'webhook.replay': { readonly input: ReplayWebhook; readonly output: { readonly from: number; readonly to: number } }
  'webhook.test': { readonly input: NamedWebhook; readonly output: WebhookTest }
}
export type WebhookOperationName = keyof WebhookOperations

export interface PlatformOfWebhooks {
  /** Its platform id, or the client id of its first key. */
  readonly platform: string
}

export interface NamedWebhook extends PlatformOfWebhooks {
  readonly endpointId: string
}

export interface NewWebhook extends PlatformOfWebhooks {
  readonly url: string
  readonly description: string
  readonly filter: WebhookFilter
}

export interface RotateWebhook extends NamedWebhook {
  /** How long the old keys sign beside the new ones. */
  readonly overlapHours: number
}

export interface WantedDeliveries extends NamedWebhook {
  readonly userId: string | null
  readonly messageId: string | null
  readonly outcome: 'succeeded' | 'failed' | null
  readonly limit: number
}

/** Either a message, or a user's events from one `seq` to another. */
export interface ReplayWebhook extends NamedWebhook {
  readonly wanted: { readonly messageId: string } | { readonly userId: string; readonly from: number; readonly to: number }
}

export interface WebhookView {
  readonly endpoint: WebhookEndpoint
  readonly lag: WebhookLag
}

export interface WebhookSecretView extends ShownEndpoint {
  /** `whsec_…`: shown once. */
  readonly secret: string
}

export const DELIVERIES_LIMIT_MAX = 1_000
export const OVERLAP_HOURS_MAX = 168
const URL_LENGTH_MAX = 2_048
const DESCRIPTION_LENGTH_MAX = 200
const MESSAGE_ID_LENGTH_MAX = 256
const USER_ID_LENGTH_MAX = 64

/** Parses inputs from the socket. Each parser throws Malformed naming the field. */
export const WEBHOOK_PARSERS: { readonly [Name in WebhookOperationName]: (input: unknown) => WebhookOperations[Name]['input'] } = {
  'webhook.list': platformOf,
  'webhook.create': input => ({
    ...platformOf(input),
    url: printable(field(input, 'url'), 'url', URL_LENGTH_MAX),
    description: field(input, 'description') === '' ? '' : printable(field(input, 'description'), 'description', DESCRIPTION_LENGTH_MAX),
    filter: filterIn(field(input, 'filter'))
  }),
  'webhook.enable': named,
  'webhook.disable': named,
  'webhook.rotate': input => ({
    ...named(input),
    overlapHours: whole(field(input, 'overlapHours'), 'overlap', 0, OVERLAP_HOURS_MAX)
  }),
  'webhook.deliveries': input => ({
    ...named(input),
    userId: orNull(field(input, 'userId'), id => printable(id, 'user_id', USER_ID_LENGTH_MAX)),
    messageId: orNull(field(input, 'messageId'), id => printable(id, 'message_id', MESSAGE_ID_LENGTH_MAX)),
    outcome: orNull(field(input, 'outcome'), outcome => oneOf(outcome, 'outcome', ['succeeded', 'failed'])),
    limit: whole(field(input, 'limit'), 'limit', 1, DELIVERIES_LIMIT_MAX)
  }),
  'webhook.replay': input => ({ ...named(input), wanted: replayIn(field(input, 'wanted')) }),
  'webhook.test': named
}

function platformOf(input: unknown): PlatformOfWebhooks {
  return { platform: printable(field(input, 'platform'), 'platform', 64) }
}

function named(input: unknown): NamedWebhook {
  return { ...platformOf(input), endpointId: uuid(field(input, 'endpointId'), 'endpoint_id') }
}

function filterIn(value: unknown): WebhookFilter {
  return {
    topics: orNull(field(value, 'topics'), topics => someOf(topics, 'topic', EVENT_TOPICS)),
    orderStatuses: orNull(field(value, 'orderStatuses'), statuses => someOf(statuses, 'status', ORDER_STATUSES))
  }
}

function someOf<const Value extends string>(value: unknown, what: string, values: readonly Value[]): readonly Value[] {
  return [...new Set(texts(value, what, values.length).map(text => oneOf(text, what, values)))]
}

function replayIn(value: unknown): ReplayWebhook['wanted'] {
  const messageId = field(value, 'messageId')
  if (messageId !== undefined) return { messageId: printable(messageId, 'message_id', MESSAGE_ID_LENGTH_MAX) }
  return {
    userId: printable(field(value, 'userId'), 'user_id', USER_ID_LENGTH_MAX),
    from: whole(field(value, 'from'), 'from', 1, Number.MAX_SAFE_INTEGER),
    to: whole(field(value, 'to'), 'to', 1, Number.MAX_SAFE_INTEGER)
  }
}
