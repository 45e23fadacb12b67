// Market data tokens: the newest of a user and connection supersedes the older ones.
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { AuditEntry, MarketDataToken, TokenStore } from '@trunkline/core/ports/store'
import { appendAudit } from './audit-entries.ts'
import { lockUser } from './removal.ts'
import type { Session } from './session.ts'

export class SqlTokenStore implements TokenStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async create(token: MarketDataToken, audit: AuditEntry): Promise<void> {
    await this.#session.write(async trx => {
      // Two tokens made at once come one after the other, so that one of them is the newest.
      await lockUser(trx, token.userKey)
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
          created_at: token.createdAt,
          expires_at: token.expiresAt,
          superseded_at: token.supersededAt
        })
        .execute()
      await appendAudit(trx, audit)
    })
  }

  async find(tokenHash: string): Promise<MarketDataToken | null> {
    const row = await this.#session.read(db =>
      db.selectFrom('market_data_tokens').selectAll().where('token_hash', '=', tokenHash).executeTakeFirst()
    )
    if (row === undefined) return null
    return {
      tokenHash: row.token_hash,
      userKey: row.user_key,
      connectionId: row.connection_id,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      supersededAt: row.superseded_at
    }
  }

  prune(expiredBefore: Timestamp): Promise<number> {
    return this.#session.write(async trx => {
      const { numDeletedRows } = await trx.deleteFrom('market_data_tokens').where('expires_at', '<', expiredBefore).executeTakeFirst()
      return Number(numDeletedRows)
    })
  }
}
