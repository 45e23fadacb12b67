// Endpoints for webhooks, how far each has received each user's log, and the attempts that were made.
import type { EventId, PlatformId, UserId, UserKey, WebhookDeliveryId, WebhookEndpointId } from '../domain/ids.ts'
import type { Partition } from '../domain/partition.ts'
import type { Timestamp } from '../domain/timestamp.ts'
import type { DisabledReason, WebhookCursor, WebhookEndpoint, WebhookFilter } from '../domain/webhook.ts'
import type { AuditEntry } from './audit-store.ts'
import type { SealedValue } from './login-store.ts'
import type { Page, PageRequest } from './page.ts'

export interface WebhookStore {
  readonly endpoints: WebhookEndpointStore
  readonly cursors: WebhookCursorStore
  readonly deliveries: WebhookDeliveryStore
}

export interface KnownWebhookEndpoint {
  readonly endpoint: WebhookEndpoint
  /** The keys that sign, as one document: see `WebhookKeys`. */
  readonly keys: SealedValue
}

export interface WebhookEndpointStore {
  /**
   * Creates the endpoint and places its cursors at the end of every log that the platform's users have at this moment.
   * False if the platform has `limit` endpoints, or is disabled or gone.
   */
  create(endpoint: WebhookEndpoint, keys: SealedValue, limit: number, audit: AuditEntry): Promise<boolean>
  /** Null if the platform has no such endpoint. */
  find(platformId: PlatformId, endpointId: WebhookEndpointId): Promise<KnownWebhookEndpoint | null>
  /** Oldest first. */
  list(platformId: PlatformId): Promise<readonly WebhookEndpoint[]>
  /** Those to be sent to: neither they nor their platforms are disabled. */
  active(): Promise<readonly KnownWebhookEndpoint[]>
  /** Replaces url, description and filter if the endpoint still has revision `over`. Ends all waits for retries. */
  edit(
    endpointId: WebhookEndpointId,
    over: number,
    next: { readonly url: string; readonly description: string; readonly filter: WebhookFilter },
    audit: AuditEntry
  ): Promise<boolean>
  /**
   * False if unknown, if it already is so, or if it has another revision than `over`, where that is given. Enabling ends `failingSince`,
   * and all waits for retries.
   */
  setDisabled(
    endpointId: WebhookEndpointId,
    disabled: { readonly at: Timestamp; readonly reason: DisabledReason } | null,
    audit: AuditEntry,
    over?: number
  ): Promise<boolean>
  /** Replaces the keys if their revision is still `next.revision - 1`. */
  replaceKeys(endpointId: WebhookEndpointId, next: SealedValue, audit: AuditEntry): Promise<boolean>
  /** Removes the endpoint with its cursors and deliveries. False if unknown. */
  remove(endpointId: WebhookEndpointId, audit: AuditEntry): Promise<boolean>
  /** Keys of endpoints that are sealed by another master key, for re-wrapping. */
  sealedUnderOtherKeys(keyId: string, limit: number): Promise<readonly KnownWebhookEndpoint[]>
  /** Replaces the bytes if they are still the ones that were read. */
  rewrapped(known: KnownWebhookEndpoint, sealed: Uint8Array, keyId: string): Promise<boolean>
}

/** A user whose log goes on after the cursor of an endpoint. */
export interface WebhookBacklog {
  readonly endpointId: WebhookEndpointId
  readonly userKey: UserKey
  readonly userId: UserId
  readonly cursor: WebhookCursor
  /** `seq` of the newest event. */
  readonly last: number
  /** When the first event after the cursor, of those that the log has, was logged; null: it has none of them any more. */
  readonly oldestAt: Timestamp | null
}

export interface WebhookProgress {
  readonly endpointId: WebhookEndpointId
  readonly userKey: UserKey
  readonly cursor: WebhookCursor
  /** The attempt that moved the cursor or counted; null if only events were passed over. */
  readonly delivery: WebhookDelivery | null
  /**
   * The endpoint's revision that an attempt tried, and the tries of the cursor if it has another by now: what changed it ended the waits.
   * Absent: `cursor` is written in any case.
   */
  readonly tried?: { readonly revision: number; readonly otherwise: Pick<WebhookCursor, 'attempts' | 'retryAt'> }
}

export interface WebhookCursorStore {
  /**
   * Users in these partitions whose log goes on after an active endpoint's cursor, by endpoint and user, after `after`, at most `limit`.
   * A user without a cursor is at 0: it is newer than the endpoint.
   */
  behind(
    partitions: ReadonlySet<Partition>,
    after: { readonly endpointId: WebhookEndpointId; readonly userKey: UserKey } | null,
    limit: number
  ): Promise<readonly WebhookBacklog[]>
  /** Null if there is none: 0 if the user is newer than the endpoint. */
  find(endpointId: WebhookEndpointId, userKey: UserKey): Promise<WebhookCursor | null>
  /**
   * Moves cursors and keeps the attempts, under the fences of the users' partitions: concurrent calls share a commit. A cursor never moves
   * back. Resolves to false if the endpoint or the user is gone.
   * @throws StoreUnavailable also when another node owns the user: nothing was written.
   */
  progress(step: WebhookProgress): Promise<boolean>
  /** How far the endpoint is behind: what it would be sent now. Zeros and null if it is unknown. */
  lag(endpoint: Pick<WebhookEndpoint, 'endpointId' | 'filter'>): Promise<WebhookLag>
}

/** Counting a lag ends at so many users whose logs go on after their cursors, and so many events that a filter was asked about. */
export const LAG_USERS_MAX = 10_000
export const LAG_EVENTS_MAX = 10_000

/**
 * What an endpoint would be sent: events that pass its filter, and for a user whose events were erased, one that says so.
 */
export interface WebhookLag {
  /** Users with such events. */
  readonly users: number
  readonly events: number
  /** Counting ended at a bound: there are at least so many. */
  readonly isLowerBound: boolean
  /** When the oldest of those counted was logged; null: none of them is in the log. */
  readonly oldestAt: Timestamp | null
}

/** One attempt. */
export interface WebhookDelivery {
  readonly deliveryId: WebhookDeliveryId
  readonly endpointId: WebhookEndpointId
  /** `webhook-id`: the same for each attempt of a message. */
  readonly messageId: string
  /** Null: a test message. */
  readonly userKey: UserKey | null
  /** The events of the message, by `seq`; null: a test message. `firstEventId` is null if all were erased before they were sent. */
  readonly events: { readonly from: number; readonly to: number; readonly firstEventId: EventId | null; readonly count: number } | null
  readonly reason: 'event' | 'retry' | 'replay' | 'test'
  /** From 1. */
  readonly attempt: number
  readonly startedAt: Timestamp
  /** From the start to the end of the answer, or to the failure. Milliseconds. */
  readonly tookMs: number
  /** The headers that were sent. The body is the log's. */
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly requestBytes: number
  /** Null if there was none. At most 4 KiB of its body, as text. */
  readonly answer: { readonly status: number; readonly body: string; readonly isCut: boolean } | null
  /** Why there was no answer of the 2xx class; null if there was. */
  readonly failure: WebhookFailure | null
  readonly retryAt: Timestamp | null
  /** The endpoint's at that time: it decides which events the message has. Absent in older records, and for a test message. */
  readonly filter?: WebhookFilter
}

export const WEBHOOK_FAILURES = [
  'status',
  'redirect',
  'timeout',
  'dns',
  'address_refused',
  'connect',
  'tls',
  'answer_too_large',
  'broken_off'
] as const
export type WebhookFailure = (typeof WEBHOOK_FAILURES)[number]

export interface WebhookDeliveryFilter {
  readonly userKey?: UserKey
  readonly messageId?: string
  readonly outcome?: 'succeeded' | 'failed'
  /** Bounds of the start, both inclusive. */
  readonly from?: Timestamp
  readonly to?: Timestamp
}

export interface WebhookDeliveryStore {
  /** Keeps an attempt that no cursor depends on: of a replay or a test. */
  add(delivery: WebhookDelivery): Promise<void>
  find(endpointId: WebhookEndpointId, deliveryId: WebhookDeliveryId): Promise<WebhookDelivery | null>
  /** Newest first; page keys: [`startedAt`, `deliveryId`]. */
  list(endpointId: WebhookEndpointId, filter: WebhookDeliveryFilter, page: PageRequest): Promise<Page<WebhookDelivery>>
  /** Erases attempts from before `at`, and all but the newest `perEndpoint` of each endpoint; at most `limit`. Returns how many. */
  prune(at: Timestamp, perEndpoint: number, limit: number): Promise<number>
}
