// Endpoints of platforms that receive the events of their users as webhooks.
import type { PlatformId, WebhookEndpointId } from './ids.ts'
import type { Timestamp } from './timestamp.ts'
import type { OrderStatus } from './vocabulary.ts'

export const EVENT_TOPICS = ['orders', 'positions', 'balances'] as const
export type EventTopic = (typeof EVENT_TOPICS)[number]

/** `requested`: by the platform; `gone`: the endpoint answered 410; `failing`: no attempt has succeeded for five days. */
export const DISABLED_REASONS = ['requested', 'gone', 'failing'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

/** Which events an endpoint receives. The others pass its cursors without being sent. */
export interface WebhookFilter {
  /** Null: all. */
  readonly topics: readonly EventTopic[] | null
  /** Of orders, those with one of these statuses; null: all. */
  readonly orderStatuses: readonly OrderStatus[] | null
}

/** What a filter looks at of an event. */
export type FilteredEvent =
  | { readonly topic: 'orders'; readonly data: { readonly status: OrderStatus } }
  | { readonly topic: Exclude<EventTopic, 'orders'> }

/** Of orders, the statuses are compared, too; other topics have none. */
export function passes({ topics, orderStatuses }: WebhookFilter, event: FilteredEvent): boolean {
  if (topics !== null && !topics.includes(event.topic)) return false
  return event.topic !== 'orders' || orderStatuses === null || orderStatuses.includes(event.data.status)
}

export interface WebhookEndpoint {
  readonly endpointId: WebhookEndpointId
  readonly platformId: PlatformId
  /** `https`, or `http` where the operator allows the address's network; without credentials and fragment; at most 2,048 characters. */
  readonly url: string
  /** Of the platform; at most 200 characters. */
  readonly description: string
  readonly filter: WebhookFilter
  readonly createdAt: Timestamp
  readonly disabled: { readonly at: Timestamp; readonly reason: DisabledReason } | null
  readonly lastSuccessAt: Timestamp | null
  /** The first attempt that failed since the last one that succeeded; null while none has. Enabling an endpoint ends it. */
  readonly failingSince: Timestamp | null
  /** Grows with each change by the platform or the service, except those of `lastSuccessAt` and `failingSince`. */
  readonly revision: number
}

/** The place of an endpoint in a user's log: everything up to it was received, or does not pass the filter. */
export interface WebhookCursor {
  /** `seq` of the last event that was received or passed over; 0: none yet. */
  readonly seq: number
  /**
   * The message that is being tried ends with this event, so that each attempt sends the same bytes under the same id. Null: none was
   * tried.
   */
  readonly tryingTo: number | null
  /** Attempts of that message that failed. */
  readonly attempts: number
  /** When it is tried again; null with `attempts` 0. */
  readonly retryAt: Timestamp | null
}
