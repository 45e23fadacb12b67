// Market data tokens: the newest of a user and connection supersedes the older ones.
import type { UserKey } from '@trunkline/core/domain/ids'
import { earlier, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { AuditEntry, KnownToken, MarketDataToken, TokenStore } from '@trunkline/core/ports/store'
import { type Kysely, type Selectable, sql } from 'kysely'
import { appendAudit } from './audit-entries.ts'
import type { Database } from './database.ts'
import { isEnabled, isKeyEnabled, lockUser } from './removal.ts'
import type { Session } from './session.ts'

export class SqlTokenStore implements TokenStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  create(token: MarketDataToken, audit: AuditEntry, provedBy: string | null = null): Promise<boolean> {
    return this.#session.write(async trx => {
      // Concurrent tokens are created one after the other, so that one of them is the newest.
      if (!(await lockUser(trx, token.userKey))) return false
      // Before any token is touched: disabling a key locks its row first, and then the tokens.
      if (!(await isEnabled(trx, token.userKey)) || !(await isKeyEnabled(trx, token.keyId, token.keySecretHash))) return false
      if (provedBy !== null && (await secretHashOf(trx, token.userKey)) !== provedBy) return false
      if (!(await isConnected(trx, token))) return false
      await trx
        .updateTable('market_data_tokens')
        .set({ superseded_at: token.createdAt })
        .where('connection_id', '=', token.connectionId)
        .where('user_key', '=', token.userKey)
        .where('superseded_at', 'is', null)
        .execute()
      await trx
        .insertInto('market_data_tokens')
        .values({
          token_hash: token.tokenHash,
          user_key: token.userKey,
          connection_id: token.connectionId,
          key_id: token.keyId,
          key_secret_hash: token.keySecretHash,
          created_at: token.createdAt,
          expires_at: token.expiresAt,
          superseded_at: token.supersededAt
        })
        .execute()
      await appendAudit(trx, audit)
      return true
    })
  }

  async find(tokenHash: string): Promise<KnownToken | null> {
    return (await this.findAll([tokenHash])).get(tokenHash) ?? null
  }

  async findAll(tokenHashes: readonly string[]): Promise<ReadonlyMap<string, KnownToken>> {
    const rows = await this.#session.read(db =>
      db
        .selectFrom('market_data_tokens')
        .innerJoin('users', 'users.user_key', 'market_data_tokens.user_key')
        .innerJoin('platforms', 'platforms.platform_id', 'users.platform_id')
        .leftJoin('platform_keys', 'platform_keys.key_id', 'market_data_tokens.key_id')
        .selectAll('market_data_tokens')
        .select(['platform_keys.secret_hash', 'platform_keys.previous_hash', 'platform_keys.previous_until'])
        .select('platform_keys.expires_at as key_expires_at')
        .where('token_hash', '=', sql<string>`any(${[...tokenHashes]}::text[])`)
        // Disabling erases tokens; one that is being created meanwhile must not survive.
        .where('users.disabled_at', 'is', null)
        .where('platforms.disabled_at', 'is', null)
        .where('platform_keys.disabled_at', 'is', null)
        .where(({ or, eb }) => or([eb('market_data_tokens.key_id', 'is', null), eb('platform_keys.key_id', 'is not', null)]))
        .execute()
    )
    const found = new Map<string, KnownToken>()
    for (const row of rows) {
      const token = knownOf(row)
      if (token !== null) found.set(token.tokenHash, token)
    }
    return found
  }

  prune(expiredBefore: Timestamp): Promise<number> {
    return this.#session.write(async trx => {
      const { numDeletedRows } = await trx.deleteFrom('market_data_tokens').where('expires_at', '<', expiredBefore).executeTakeFirst()
      return Number(numDeletedRows)
    })
  }
}

async function secretHashOf(trx: Kysely<Database>, userKey: UserKey): Promise<string | null> {
  const row = await trx.selectFrom('users').select('secret_hash').where('user_key', '=', userKey).executeTakeFirst()
  return row?.secret_hash ?? null
}

interface TokenRow extends Selectable<Database['market_data_tokens']> {
  readonly secret_hash: string | null
  readonly previous_hash: string | null
  readonly previous_until: Timestamp | null
  readonly key_expires_at: Timestamp | null
}

/** Null if the secret that the token was created with is no longer one of the key's two. */
function knownOf(row: TokenRow): KnownToken | null {
  const hash = row.key_secret_hash
  const isReplaced = hash !== null && hash !== row.secret_hash
  if (isReplaced && hash !== row.previous_hash) return null
  return {
    tokenHash: row.token_hash,
    userKey: row.user_key,
    connectionId: row.connection_id,
    keyId: row.key_id,
    keySecretHash: hash,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    supersededAt: row.superseded_at,
    keyEndsAt: earlier(row.key_expires_at, isReplaced ? row.previous_until : null)
  }
}

/** A connection is deleted under the lock of its user, so what is here stays until the token is. */
async function isConnected(trx: Kysely<Database>, { connectionId, userKey }: MarketDataToken): Promise<boolean> {
  const found = trx.selectFrom('connections').select('connection_id').where('connection_id', '=', connectionId)
  return (await found.where('user_key', '=', userKey).executeTakeFirst()) !== undefined
}
