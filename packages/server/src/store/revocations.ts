// Logins that are no longer used here and are still to be revoked at their brokers.
import type { ConnectionId } from '@trunkline/core/domain/ids'
import { epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Revocation } from '@trunkline/core/ports/store'
import { type Kysely, sql } from 'kysely'
import { sealedOf } from './credentials.ts'
import type { Database } from './database.ts'
import { readTexts, writeDocument } from './documents.ts'

type Db = Kysely<Database>

/** Longer than any revocation is postponed. */
const PUT_OFF_MS_MAX = 2 * 3_600_000

/** A removed login, and the broker's ids of its accounts. */
export interface Login {
  readonly connectionId: ConnectionId
  readonly brokerAccountIds: readonly string[]
}

/** Stores the sealed logins of removed connections for revocation. */
export async function keepOfConnections(trx: Db, connectionIds: readonly ConnectionId[], at: Timestamp): Promise<void> {
  if (connectionIds.length === 0) return
  const accounts = await trx
    .selectFrom('accounts')
    .select(['connection_id', 'broker_account_id'])
    .where('connection_id', 'in', [...connectionIds])
    .execute()
  const reached = Map.groupBy(accounts, account => account.connection_id)
  const logins = connectionIds.map(connectionId => ({
    connectionId,
    brokerAccountIds: (reached.get(connectionId) ?? []).map(account => account.broker_account_id)
  }))
  await keep(trx, sql`connections join connection_credentials using (connection_id, user_key)`, logins, at)
}

/** Stores the sealed logins of unclaimed connections for revocation. */
export async function keepOfClaims(trx: Db, logins: readonly Login[], at: Timestamp): Promise<void> {
  await keep(trx, sql`pending_claims`, logins, at)
}

async function keep(trx: Db, from: ReturnType<typeof sql>, logins: readonly Login[], at: Timestamp): Promise<void> {
  if (logins.length === 0) return
  const ids = logins.map(({ connectionId }) => connectionId)
  const reached = logins.map(({ brokerAccountIds }) => writeDocument(brokerAccountIds))
  await sql`
    insert into revocations
      (connection_id, user_key, broker, environment, host, sealed, revision, key_id, removed_at, due_at, broker_account_ids)
    select connection_id, user_key, broker, environment, host, sealed, revision, key_id, ${at}::timestamptz, ${at}::timestamptz, reached
    from ${from} join unnest(${ids}::uuid[], ${reached}::text[]) as logins (connection_id, reached) using (connection_id)`.execute(trx)
}

/**
 * Revocations due at `at`, oldest first. Those of a user who is logging in at the same broker wait: that login is known only once it is
 * stored, and may be the same one.
 */
export async function due(db: Db, at: Timestamp, limit: number): Promise<readonly Revocation[]> {
  const rows = await db
    .selectFrom('revocations')
    .select(['connection_id', 'user_key', 'broker', 'sealed', 'revision', 'attempts', 'removed_at', 'broker_account_ids'])
    // Nothing is postponed for so long: a time further ahead was written before the clock was set back.
    .where(eb => eb.or([eb('due_at', '<=', at), eb('due_at', '>', timestampOfMs(epochMs(at) + PUT_OFF_MS_MAX))]))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('connection_attempts')
            .select('attempt_id')
            .whereRef('connection_attempts.user_key', '=', 'revocations.user_key')
            .whereRef('chosen_broker', '=', 'revocations.broker')
            .where('status', '=', 'authorizing')
            .where('expires_at', '>', at)
        )
      )
    )
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
    removedAt: row.removed_at,
    brokerAccountIds: row.broker_account_ids === null ? null : readTexts(row.broker_account_ids)
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
