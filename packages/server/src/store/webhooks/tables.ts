// The tables of webhooks. Lists and attempts are JSON texts.
import type { PlatformId, UserKey, WebhookDeliveryId, WebhookEndpointId } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { DisabledReason } from '@trunkline/core/domain/webhook'
import type { ColumnType } from 'kysely'

export interface WebhookEndpointsTable {
  endpoint_id: WebhookEndpointId
  platform_id: PlatformId
  url: string
  description: string
  topics: string | null
  order_statuses: string | null
  created_at: Timestamp
  disabled_at: Timestamp | null
  disabled_reason: DisabledReason | null
  last_success_at: Timestamp | null
  failing_since: Timestamp | null
  revision: number
  keys: ColumnType<Buffer, Uint8Array, Uint8Array>
  keys_revision: number
  key_id: string | null
}

export interface WebhookCursorsTable {
  endpoint_id: WebhookEndpointId
  user_key: UserKey
  seq: number
  trying_to: number | null
  attempts: number
  retry_at: Timestamp | null
}

export interface WebhookDeliveriesTable {
  endpoint_id: WebhookEndpointId
  delivery_id: WebhookDeliveryId
  user_key: UserKey | null
  message_id: string
  started_at: Timestamp
  has_succeeded: boolean
  document: string
}
