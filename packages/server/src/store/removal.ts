// Shared steps of removing or disabling users, keys and platforms, and of removing connections.
import type { ConnectionId, KeyId, PlatformId, UserKey } from '@trunkline/core/domain/ids'
import type { AuditEntry, RemovalAudit } from '@trunkline/core/ports/store'
import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'
import { readOrder } from './documents.ts'

/** Takes the lock of everything under the user, until the transaction ends. False if there is no such user. */
export async function lockUser(trx: Kysely<Database>, userKey: UserKey): Promise<boolean> {
  const row = await trx.selectFrom('user_counters').select('user_key').where('user_key', '=', userKey).forUpdate().executeTakeFirst()
  return row !== undefined
}

/**
 * Whether the user and its platform are enabled. Neither can be disabled before the transaction ends: a concurrent disabling waits, and
 * then ends what was begun.
 */
export async function isEnabled(trx: Kysely<Database>, userKey: UserKey): Promise<boolean> {
  const row = await trx
    .selectFrom('users')
    .innerJoin('platforms', 'platforms.platform_id', 'users.platform_id')
    .select(['users.disabled_at as user_disabled_at', 'platforms.disabled_at as platform_disabled_at'])
    .where('users.user_key', '=', userKey)
    .forShare()
    .executeTakeFirst()
  return row !== undefined && row.user_disabled_at === null && row.platform_disabled_at === null
}

/**
 * Whether the platform's key is enabled, and still has the secret with the hash `provedBy`; null: not checked. As with a user, a concurrent
 * disabling or replacement waits.
 */
export async function isKeyEnabled(trx: Kysely<Database>, keyId: KeyId | null, provedBy: string | null = null): Promise<boolean> {
  if (keyId === null) return true
  const row = await trx
    .selectFrom('platform_keys')
    .select(['disabled_at', 'secret_hash', 'previous_hash'])
    .where('key_id', '=', keyId)
    .forShare()
    .executeTakeFirst()
  if (row === undefined || row.disabled_at !== null) return false
  return provedBy === null || provedBy === row.secret_hash || provedBy === row.previous_hash
}

/**
 * The audit entries of a removal of connections, with the open orders that are removed. Call it under the user's lock, before the removal.
 */
export async function removalEntries(
  trx: Kysely<Database>,
  connectionIds: readonly ConnectionId[],
  audit: AuditEntry | RemovalAudit
): Promise<readonly AuditEntry[]> {
  if (typeof audit !== 'function') return [audit]
  const { rows } = await sql<{ document: string }>`select document from accounts join orders using (account_id)
    where accounts.connection_id = any (${[...connectionIds]}::uuid[]) and is_open order by entry_time, order_id`.execute(trx)
  return audit(rows.map(({ document }) => readOrder(document)))
}

/** Marks the connections' orders for erasure. Their events stay in the user's log, which has no gaps. */
export async function markOrdersForErasure(trx: Kysely<Database>, connectionIds: readonly ConnectionId[]): Promise<void> {
  await sql`insert into erasures (kind, id)
    select 'account', account_id from accounts where connection_id = any (${[...connectionIds]}::uuid[])`.execute(trx)
}

/** Marks the user's events for erasure. */
export async function markEventsForErasure(trx: Kysely<Database>, userKey: UserKey): Promise<void> {
  await trx.insertInto('erasures').values({ kind: 'user', id: userKey }).execute()
}

/** The owner: one user, all users of a platform, or all that was created with a key. */
type Owner = { readonly platformId: PlatformId } | { readonly userKey: UserKey } | { readonly keyId: KeyId }

/** Erases market data tokens. */
export async function eraseMarketTokens(trx: Kysely<Database>, owner: Owner): Promise<void> {
  const tokens = trx.deleteFrom('market_data_tokens')
  if ('userKey' in owner) await tokens.where('user_key', '=', owner.userKey).execute()
  else if ('keyId' in owner) await tokens.where('key_id', '=', owner.keyId).execute()
  else {
    const users = trx.selectFrom('users').select('user_key').where('platform_id', '=', owner.platformId)
    await tokens.where('user_key', 'in', users).execute()
  }
}

/** Ends links of the portal that have not led to a connection. */
export async function endAttempts(trx: Kysely<Database>, owner: Owner): Promise<void> {
  await trx
    .updateTable('connection_attempts')
    .set({ status: 'failed', state_hash: null, verifier: null, verifier_revision: null })
    .where(({ eb }) => {
      if ('userKey' in owner) return eb('user_key', '=', owner.userKey)
      return 'keyId' in owner ? eb('key_id', '=', owner.keyId) : eb('platform_id', '=', owner.platformId)
    })
    .where('status', 'in', ['open', 'authorizing'])
    .execute()
}
