// Connections that wait for their platform's claim. They are in no other table, so nothing can read or trade through one.
import type { Account, Connection } from '@trunkline/core/domain/account'
import type { BrokerId, ConnectionId, UserKey } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { PendingClaim, SealedValue } from '@trunkline/core/ports/store'
import type { Kysely } from 'kysely'
import { appendAudit } from './audit-entries.ts'
import type { Database } from './database.ts'
import { type PendingDocument, readPending, writePending } from './documents.ts'
import { keepOfClaims } from './revocations.ts'

type Db = Kysely<Database>

export interface PutAside extends PendingDocument {
  readonly credentials: SealedValue
}

export async function put(trx: Db, { connection, accounts, credentials }: PutAside, { codeHash, expiresAt }: PendingClaim): Promise<void> {
  const { connectionId, userKey, broker, endpoint } = connection
  await trx
    .insertInto('pending_claims')
    .values({
      connection_id: connectionId,
      user_key: userKey,
      code_hash: codeHash,
      document: writePending({ connection, accounts }),
      broker,
      environment: endpoint?.environment ?? null,
      host: endpoint?.host ?? null,
      sealed: credentials.sealed,
      revision: credentials.revision,
      expires_at: expiresAt
    })
    .execute()
}

/** Removes it if the code is its own and in time. */
export async function take(
  trx: Db,
  connectionId: ConnectionId,
  userKey: UserKey,
  { codeHash, at }: { readonly codeHash: string; readonly at: Timestamp }
): Promise<
  { readonly connection: Connection; readonly accounts: readonly Account[]; readonly credentials: SealedValue } | 'refused' | 'unknown'
> {
  const row = await trx
    .selectFrom('pending_claims')
    .selectAll()
    .where('connection_id', '=', connectionId)
    .where('user_key', '=', userKey)
    // A concurrent expiry either waits and finds it gone, or was first, and it is gone here.
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) return 'unknown'
  if (row.code_hash !== codeHash || row.expires_at <= at) return 'refused'
  const { numDeletedRows } = await trx.deleteFrom('pending_claims').where('connection_id', '=', connectionId).executeTakeFirst()
  if (numDeletedRows === 0n) return 'unknown'
  return { ...readPending(row.document), credentials: { sealed: new Uint8Array(row.sealed), revision: row.revision } }
}

/** A waiting connection of any user. */
export async function find(db: Db, connectionId: ConnectionId): Promise<Connection | null> {
  const row = await db.selectFrom('pending_claims').select('document').where('connection_id', '=', connectionId).executeTakeFirst()
  return row === undefined ? null : readPending(row.document).connection
}

export async function reach(db: Db, broker: BrokerId, brokerAccountIds: readonly string[]): Promise<boolean> {
  const rows = await db.selectFrom('pending_claims').select('document').where('broker', '=', broker).execute()
  return rows.some(({ document }) => readPending(document).accounts.some(account => brokerAccountIds.includes(account.brokerAccountId)))
}

export async function expire(trx: Db, at: Timestamp, limit: number): Promise<number> {
  const rows = await trx
    .selectFrom('pending_claims')
    .select(['connection_id', 'broker', 'document'])
    .where('expires_at', '<=', at)
    .orderBy('expires_at')
    .limit(limit)
    .forUpdate()
    .execute()
  await revoke(trx, rows, at)
  for (const { connection_id: target, broker } of rows)
    await appendAudit(trx, {
      ...{ at, actor: 'service', action: 'connection.unclaimed', target, result: 'refused', ip: null, requestId: null },
      detail: { broker }
    })
  return rows.length
}

/** The waiting connections of a user who is being removed. */
export async function revokeOf(trx: Db, userKey: UserKey, at: Timestamp): Promise<void> {
  const rows = await trx
    .selectFrom('pending_claims')
    .select(['connection_id', 'document'])
    .where('user_key', '=', userKey)
    .orderBy('expires_at')
    .forUpdate()
    .execute()
  await revoke(trx, rows, at)
}

/** The tokens are revoked like those of a removed connection. */
async function revoke(
  trx: Db,
  rows: readonly { readonly connection_id: ConnectionId; readonly document: string }[],
  at: Timestamp
): Promise<void> {
  if (rows.length === 0) return
  const logins = rows.map(({ connection_id: connectionId, document }) => ({
    connectionId,
    brokerAccountIds: readPending(document).accounts.map(({ brokerAccountId }) => brokerAccountId)
  }))
  await keepOfClaims(trx, logins, at)
  const ids = rows.map(({ connection_id }) => connection_id)
  await trx.deleteFrom('pending_claims').where('connection_id', 'in', ids).execute()
}
