// Sealed credentials, of live connections and of removed ones whose logins are still to be revoked.
import type { ConnectionId } from '@trunkline/core/domain/ids'
import { epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Revocation, RewrapItem, SealedValue } from '@trunkline/core/ports/store'
import type { Kysely } from 'kysely'
import type { Database } from './database.ts'

type Db = Kysely<Database>

const PLACES = ['connection', 'revocation', 'claim'] as const
const TABLES = { connection: 'connection_credentials', revocation: 'revocations', claim: 'pending_claims' } as const

export async function find(db: Db, connectionId: ConnectionId): Promise<SealedValue | null> {
  const row = await db
    .selectFrom('connection_credentials')
    .select(['sealed', 'revision'])
    .where('connection_id', '=', connectionId)
    .executeTakeFirst()
  return row === undefined ? null : sealedOf(row)
}

/** Writes over `revision` only; false when someone was faster or the connection is gone. */
export async function replace(db: Db, connectionId: ConnectionId, revision: number, next: SealedValue): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('connection_credentials')
    .set({ sealed: next.sealed, revision: next.revision, key_id: null })
    .where('connection_id', '=', connectionId)
    .where('revision', '=', revision)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Longer than any revocation is put off for. */
const PUT_OFF_MS_MAX = 2 * 3_600_000

/** Revocations due at `at`, oldest first. */
export async function due(db: Db, at: Timestamp, limit: number): Promise<readonly Revocation[]> {
  const rows = await db
    .selectFrom('revocations')
    .select(['connection_id', 'user_key', 'broker', 'sealed', 'revision', 'attempts', 'removed_at'])
    // Nothing is put off for so long: a time further ahead was written before the clock was set back.
    .where(eb => eb.or([eb('due_at', '<=', at), eb('due_at', '>', timestampOfMs(epochMs(at) + PUT_OFF_MS_MAX))]))
    .orderBy('due_at')
    .orderBy('connection_id')
    .limit(limit)
    .execute()
  return rows.map(row => ({
    connectionId: row.connection_id,
    userKey: row.user_key,
    broker: row.broker,
    credentials: sealedOf(row),
    attempts: row.attempts,
    removedAt: row.removed_at
  }))
}

export async function postpone(db: Db, connectionId: ConnectionId, until: Timestamp): Promise<void> {
  await db
    .updateTable('revocations')
    .set(row => ({ attempts: row('attempts', '+', 1), due_at: until }))
    .where('connection_id', '=', connectionId)
    .execute()
}

export async function erase(db: Db, connectionId: ConnectionId): Promise<void> {
  await db.deleteFrom('revocations').where('connection_id', '=', connectionId).execute()
}

/** Values not known to be sealed under `keyId`: those under another key, and those nobody has looked at since they were written. */
export async function underOtherKeys(db: Db, keyId: string, limit: number): Promise<readonly RewrapItem[]> {
  const items: RewrapItem[] = []
  for (const place of PLACES) {
    const rows = await db
      .selectFrom(TABLES[place])
      .select(['connection_id', 'user_key', 'sealed', 'revision'])
      .where('key_id', 'is distinct from', keyId)
      .limit(limit - items.length)
      .execute()
    for (const row of rows) items.push({ place, connectionId: row.connection_id, userKey: row.user_key, credentials: sealedOf(row) })
  }
  return items
}

/** Swaps the bytes in place if they are still the ones read. The same bytes again only note the key. */
export async function rewrap(db: Db, item: RewrapItem, sealed: Uint8Array, keyId: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable(TABLES[item.place])
    .set({ sealed, key_id: keyId })
    .where('connection_id', '=', item.connectionId)
    .where('revision', '=', item.credentials.revision)
    .where('sealed', '=', Buffer.from(item.credentials.sealed))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

function sealedOf({ sealed, revision }: { readonly sealed: Buffer; readonly revision: number }): SealedValue {
  return { sealed: new Uint8Array(sealed), revision }
}
