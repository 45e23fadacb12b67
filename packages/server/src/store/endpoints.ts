// The endpoints of connections: the broker's environment and host.
import type { BrokerEndpoint } from '@trunkline/core/domain/account'
import type { BrokerId, ConnectionId } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { AuditEntry, EndpointItem } from '@trunkline/core/ports/store'
import { type Kysely, type Selectable, sql } from 'kysely'
import { appendAudit } from './audit-entries.ts'
import type { Database } from './database.ts'
import { storable } from './types.ts'

type Db = Kysely<Database>

export async function list(db: Db, broker: BrokerId): Promise<readonly BrokerEndpoint[]> {
  const rows = await db
    .selectFrom('connections')
    .select(['environment', 'host'])
    .distinct()
    .where('broker', '=', broker)
    .where('status', '=', 'ACTIVE')
    .execute()
  return rows.flatMap(({ environment, host }) => (environment === null || host === null ? [] : [{ environment, host }]))
}

export async function suspend(
  trx: Db,
  broker: BrokerId,
  was: BrokerEndpoint,
  { reason, at, audit }: { readonly reason: string; readonly at: Timestamp; readonly audit: AuditEntry }
): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('connections')
    .set({ status: 'BROKEN', broken_code: 'environment_changed', broken_reason: storable(reason), updated_at: at })
    .where('broker', '=', broker)
    .where('environment', '=', was.environment)
    .where('host', '=', was.host)
    .where('status', '=', 'ACTIVE')
    .executeTakeFirst()
  return await counted(trx, numUpdatedRows, audit)
}

export async function resume(
  trx: Db,
  broker: BrokerId,
  endpoint: BrokerEndpoint,
  { at, audit }: { readonly at: Timestamp; readonly audit: AuditEntry }
): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('connections')
    .set({ status: 'ACTIVE', broken_code: null, broken_reason: null, updated_at: at })
    .where('broker', '=', broker)
    .where('environment', '=', endpoint.environment)
    .where('host', '=', endpoint.host)
    .where('broken_code', '=', 'environment_changed')
    .executeTakeFirst()
  return await counted(trx, numUpdatedRows, audit)
}

/** After `after`, by connection id. */
export async function missing(
  db: Db,
  { place, broker, after, limit }: { place: EndpointItem['item']['place']; broker: BrokerId; after: ConnectionId | null; limit: number }
): Promise<readonly EndpointItem['item'][]> {
  const from = place === 'connection' ? sql`connections join connection_credentials using (connection_id)` : sql`revocations`
  const userKey = place === 'connection' ? sql`connections.user_key` : sql`user_key`
  const { rows } = await sql<Selectable<Database['connection_credentials']>>`
    select connection_id, ${userKey} as user_key, sealed, revision from ${from}
    where broker = ${broker} and environment is null and (${after}::uuid is null or connection_id > ${after}::uuid)
    order by connection_id limit ${limit}`.execute(db)
  return rows.map(row => ({
    place,
    connectionId: row.connection_id,
    userKey: row.user_key,
    credentials: { sealed: new Uint8Array(row.sealed), revision: row.revision }
  }))
}

/** Within a transaction. */
export async function record(trx: Db, items: readonly EndpointItem[], endpoint: BrokerEndpoint, audit: AuditEntry): Promise<void> {
  for (const { item, sealed } of items) {
    const { environment, host } = endpoint
    const { connectionId, credentials } = item
    const table = item.place === 'connection' ? 'connection_credentials' : 'revocations'
    if (sealed !== null) {
      const { numUpdatedRows } = await trx
        .updateTable(table)
        .set({ sealed, key_id: null })
        .where('connection_id', '=', connectionId)
        .where('revision', '=', credentials.revision)
        .where('sealed', '=', Buffer.from(credentials.sealed))
        .executeTakeFirst()
      if (numUpdatedRows === 0n) continue
    }
    await trx
      .updateTable(item.place === 'connection' ? 'connections' : 'revocations')
      .set({ environment, host })
      .where('connection_id', '=', connectionId)
      .execute()
  }
  await appendAudit(trx, audit)
}

async function counted(trx: Db, updated: bigint, audit: AuditEntry): Promise<number> {
  const count = Number(updated)
  if (count > 0) await appendAudit(trx, { ...audit, detail: { ...audit.detail, connections: count } })
  return count
}
