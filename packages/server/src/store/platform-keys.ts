// Keys of platforms: client ids with their secrets, scopes and addresses.
import type { KeyId, PlatformId } from '@trunkline/core/domain/ids'
import { type PlatformKey, parseScopes } from '@trunkline/core/domain/platform-key'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { AuditEntry, PlatformKeyStore } from '@trunkline/core/ports/store'
import type { Kysely, Selectable } from 'kysely'
import { appendAudit } from './audit-entries.ts'
import type { Database } from './database.ts'
import { readTexts, writeDocument } from './documents.ts'
import { endAttempts, eraseMarketTokens } from './removal.ts'
import type { Session } from './session.ts'

type Row = Selectable<Database['platform_keys']>

export class SqlPlatformKeyStore implements PlatformKeyStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async create(key: PlatformKey, secretHash: string, audit: AuditEntry): Promise<void> {
    await this.#session.write(async trx => {
      await insertKey(trx, key, secretHash)
      await appendAudit(trx, audit)
    })
  }

  async list(platformId: PlatformId): Promise<readonly PlatformKey[]> {
    const rows = await this.#session.read(db =>
      db.selectFrom('platform_keys').selectAll().where('platform_id', '=', platformId).orderBy('created_at').orderBy('key_id').execute()
    )
    return rows.map(keyOf)
  }

  replaceSecret(keyId: KeyId, secretHash: string, previousUntil: Timestamp | null, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('platform_keys')
        .set(({ ref }) => ({
          secret_hash: secretHash,
          previous_hash: previousUntil === null ? null : ref('secret_hash'),
          previous_until: previousUntil
        }))
        .where('key_id', '=', keyId)
        .executeTakeFirst()
      await endWithSecret(trx, keyId, previousUntil)
      return this.#audited(trx, numUpdatedRows, audit)
    })
  }

  setDisabled(keyId: KeyId, at: Timestamp | null, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('platform_keys')
        .set({ disabled_at: at })
        .where('key_id', '=', keyId)
        .executeTakeFirst()
      if (at !== null) await endWithKey(trx, keyId)
      return this.#audited(trx, numUpdatedRows, audit)
    })
  }

  revoke(keyId: KeyId, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numDeletedRows } = await trx.deleteFrom('platform_keys').where('key_id', '=', keyId).executeTakeFirst()
      await endWithKey(trx, keyId)
      return this.#audited(trx, numDeletedRows, audit)
    })
  }

  async used(keyId: KeyId, at: Timestamp): Promise<void> {
    await this.#session.write(trx => trx.updateTable('platform_keys').set({ last_used_at: at }).where('key_id', '=', keyId).execute())
  }

  async #audited(trx: Kysely<Database>, rows: bigint, audit: AuditEntry): Promise<boolean> {
    if (rows === 0n) return false
    await appendAudit(trx, audit)
    return true
  }
}

export async function insertKey(trx: Kysely<Database>, key: PlatformKey, secretHash: string): Promise<void> {
  await trx
    .insertInto('platform_keys')
    .values({
      key_id: key.keyId,
      platform_id: key.platformId,
      client_id: key.clientId,
      name: key.name,
      scopes: writeDocument(key.scopes),
      addresses: writeDocument(key.addresses),
      secret_hash: secretHash,
      previous_hash: null,
      previous_until: null,
      created_at: key.createdAt,
      expires_at: key.expiresAt,
      last_used_at: key.lastUsedAt,
      disabled_at: key.disabledAt
    })
    .execute()
}

export function keyOf(row: Row): PlatformKey {
  return {
    keyId: row.key_id,
    platformId: row.platform_id,
    clientId: row.client_id,
    name: row.name,
    scopes: parseScopes(readTexts(row.scopes)),
    addresses: readTexts(row.addresses),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    disabledAt: row.disabled_at
  }
}

/** Ends links and tokens that were created with the key. */
async function endWithKey(trx: Kysely<Database>, keyId: KeyId): Promise<void> {
  await eraseMarketTokens(trx, { keyId })
  await endAttempts(trx, { keyId })
}

/** Links do not record which of a key's secrets created them: all end with the replaced one. Tokens record it. */
async function endWithSecret(trx: Kysely<Database>, keyId: KeyId, previousUntil: Timestamp | null): Promise<void> {
  if (previousUntil === null) return endAttempts(trx, { keyId })
  await trx
    .updateTable('connection_attempts')
    .set({ expires_at: previousUntil })
    .where('key_id', '=', keyId)
    .where('expires_at', '>', previousUntil)
    .execute()
}
