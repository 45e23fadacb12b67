import type { PlatformId, WebhookEndpointId } from '@trunkline/core/domain/ids'
import { ORDER_STATUSES } from '@trunkline/core/domain/vocabulary'
import { EVENT_TOPICS, type WebhookEndpoint, type WebhookFilter } from '@trunkline/core/domain/webhook'
import type { AuditEntry, SealedValue } from '@trunkline/core/ports/store'
import type { KnownWebhookEndpoint, WebhookEndpointStore } from '@trunkline/core/ports/webhook-store'
import { type Kysely, type Selectable, sql } from 'kysely'
import { appendAudit } from '../audit-entries.ts'
import type { Database } from '../database.ts'
import { readTexts, writeDocument } from '../documents.ts'
import type { Session } from '../session.ts'

type Row = Selectable<Database['webhook_endpoints']>

export class SqlWebhookEndpointStore implements WebhookEndpointStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  create(endpoint: WebhookEndpoint, keys: SealedValue, limit: number, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      // Locked: of two that come at once, the second counts the first. New users refer to the platform meanwhile.
      const platform = await trx
        .selectFrom('platforms')
        .select('disabled_at')
        .where('platform_id', '=', endpoint.platformId)
        .forNoKeyUpdate()
        .executeTakeFirst()
      if (platform === undefined || platform.disabled_at !== null) return false
      const { count } = await trx
        .selectFrom('webhook_endpoints')
        .select(eb => eb.fn.countAll<number>().as('count'))
        .where('platform_id', '=', endpoint.platformId)
        .executeTakeFirstOrThrow()
      if (Number(count) >= limit) return false
      await trx.insertInto('webhook_endpoints').values(rowOf(endpoint, keys)).execute()
      await sql`insert into webhook_cursors (endpoint_id, user_key, seq)
        select ${endpoint.endpointId}::uuid, user_key, last_seq from users join user_counters using (user_key)
        where platform_id = ${endpoint.platformId}::uuid and last_seq > 0`.execute(trx)
      await appendAudit(trx, audit)
      return true
    })
  }

  async find(platformId: PlatformId, endpointId: WebhookEndpointId): Promise<KnownWebhookEndpoint | null> {
    const row = await this.#session.read(db =>
      db
        .selectFrom('webhook_endpoints')
        .selectAll()
        .where('endpoint_id', '=', endpointId)
        .where('platform_id', '=', platformId)
        .executeTakeFirst()
    )
    return row === undefined ? null : knownOf(row)
  }

  async list(platformId: PlatformId): Promise<readonly WebhookEndpoint[]> {
    const rows = await this.#session.read(db =>
      db
        .selectFrom('webhook_endpoints')
        .selectAll()
        .where('platform_id', '=', platformId)
        .orderBy('created_at')
        .orderBy('endpoint_id')
        .execute()
    )
    return rows.map(endpointOf)
  }

  async active(): Promise<readonly KnownWebhookEndpoint[]> {
    const rows = await this.#session.read(db =>
      db
        .selectFrom('webhook_endpoints')
        .innerJoin('platforms', 'platforms.platform_id', 'webhook_endpoints.platform_id')
        .selectAll('webhook_endpoints')
        .where('webhook_endpoints.disabled_at', 'is', null)
        .where('platforms.disabled_at', 'is', null)
        .orderBy('webhook_endpoints.endpoint_id')
        .execute()
    )
    return rows.map(knownOf)
  }

  edit(
    endpointId: WebhookEndpointId,
    over: number,
    { url, description, filter }: { readonly url: string; readonly description: string; readonly filter: WebhookFilter },
    audit: AuditEntry
  ): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('webhook_endpoints')
        .set({ url, description, ...filterColumns(filter), revision: over + 1 })
        .where('endpoint_id', '=', endpointId)
        .where('revision', '=', over)
        .executeTakeFirst()
      if (numUpdatedRows > 0n) await endWaits(trx, endpointId)
      return audited(trx, numUpdatedRows, audit)
    })
  }

  setDisabled(endpointId: WebhookEndpointId, disabled: WebhookEndpoint['disabled'], audit: AuditEntry, over?: number): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('webhook_endpoints')
        .set(({ eb }) => ({
          disabled_at: disabled?.at ?? null,
          disabled_reason: disabled?.reason ?? null,
          revision: eb('revision', '+', 1),
          ...(disabled === null && { failing_since: null })
        }))
        .where('endpoint_id', '=', endpointId)
        .where('disabled_at', disabled === null ? 'is not' : 'is', null)
        .$if(over !== undefined, query => query.where('revision', '=', over ?? null))
        .executeTakeFirst()
      if (disabled === null && numUpdatedRows > 0n) await endWaits(trx, endpointId)
      return audited(trx, numUpdatedRows, audit)
    })
  }

  replaceKeys(endpointId: WebhookEndpointId, next: SealedValue, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('webhook_endpoints')
        .set(({ eb }) => ({ keys: next.sealed, keys_revision: next.revision, key_id: null, revision: eb('revision', '+', 1) }))
        .where('endpoint_id', '=', endpointId)
        .where('keys_revision', '=', next.revision - 1)
        .executeTakeFirst()
      return audited(trx, numUpdatedRows, audit)
    })
  }

  remove(endpointId: WebhookEndpointId, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numDeletedRows } = await trx.deleteFrom('webhook_endpoints').where('endpoint_id', '=', endpointId).executeTakeFirst()
      return audited(trx, numDeletedRows, audit)
    })
  }

  async sealedUnderOtherKeys(keyId: string, limit: number): Promise<readonly KnownWebhookEndpoint[]> {
    const rows = await this.#session.read(db =>
      db.selectFrom('webhook_endpoints').selectAll().where('key_id', 'is distinct from', keyId).limit(limit).execute()
    )
    return rows.map(knownOf)
  }

  rewrapped({ endpoint, keys }: KnownWebhookEndpoint, sealed: Uint8Array, keyId: string): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('webhook_endpoints')
        .set({ keys: sealed, key_id: keyId })
        .where('endpoint_id', '=', endpoint.endpointId)
        .where('keys_revision', '=', keys.revision)
        .where('keys', '=', Buffer.from(keys.sealed))
        .executeTakeFirst()
      return numUpdatedRows > 0n
    })
  }
}

async function audited(trx: Kysely<Database>, rows: bigint, audit: AuditEntry): Promise<boolean> {
  if (rows === 0n) return false
  await appendAudit(trx, audit)
  return true
}

async function endWaits(trx: Kysely<Database>, endpointId: WebhookEndpointId): Promise<void> {
  await trx
    .updateTable('webhook_cursors')
    .set({ attempts: 0, retry_at: null })
    .where('endpoint_id', '=', endpointId)
    .where('attempts', '>', 0)
    .execute()
}

function filterColumns({ topics, orderStatuses }: WebhookFilter) {
  return {
    topics: topics === null ? null : writeDocument(topics),
    order_statuses: orderStatuses === null ? null : writeDocument(orderStatuses)
  }
}

function rowOf(endpoint: WebhookEndpoint, keys: SealedValue) {
  return {
    endpoint_id: endpoint.endpointId,
    platform_id: endpoint.platformId,
    url: endpoint.url,
    description: endpoint.description,
    ...filterColumns(endpoint.filter),
    created_at: endpoint.createdAt,
    disabled_at: endpoint.disabled?.at ?? null,
    disabled_reason: endpoint.disabled?.reason ?? null,
    last_success_at: endpoint.lastSuccessAt,
    failing_since: endpoint.failingSince,
    revision: endpoint.revision,
    keys: keys.sealed,
    keys_revision: keys.revision,
    key_id: null
  }
}

function knownOf(row: Row): KnownWebhookEndpoint {
  return { endpoint: endpointOf(row), keys: { sealed: new Uint8Array(row.keys), revision: row.keys_revision } }
}

function endpointOf(row: Row): WebhookEndpoint {
  const { disabled_at: at, disabled_reason: reason } = row
  return {
    endpointId: row.endpoint_id,
    platformId: row.platform_id,
    url: row.url,
    description: row.description,
    filter: {
      topics: row.topics === null ? null : EVENT_TOPICS.filter(isIn(row.topics)),
      orderStatuses: row.order_statuses === null ? null : ORDER_STATUSES.filter(isIn(row.order_statuses))
    },
    createdAt: row.created_at,
    disabled: at === null || reason === null ? null : { at, reason },
    lastSuccessAt: row.last_success_at,
    failingSince: row.failing_since,
    revision: row.revision
  }
}

function isIn(document: string): (value: string) => boolean {
  const values = readTexts(document)
  return value => values.includes(value)
}
