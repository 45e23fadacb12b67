// Sealed credentials of connections, and of removed ones whose logins are still to be revoked.
import type { ConnectionId } from '@trunkline/core/domain/ids'
import type { RewrapItem, SealedValue } from '@trunkline/core/ports/store'
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

/** Writes over `revision` only; false if another writer was first or the connection is gone. */
export async function replace(db: Db, connectionId: ConnectionId, revision: number, next: SealedValue): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('connection_credentials')
    .set({ sealed: next.sealed, revision: next.revision, key_id: null })
    .where('connection_id', '=', connectionId)
    .where('revision', '=', revision)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Values not known to be sealed under `keyId`: those under another key, and those not checked since they were written. */
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

/** Replaces the bytes if they are still the ones read. The same bytes again only store the key's id. */
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

export function sealedOf({ sealed, revision }: { readonly sealed: Buffer; readonly revision: number }): SealedValue {
  return { sealed: new Uint8Array(sealed), revision }
}
