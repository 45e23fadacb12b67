// Platforms: made by the operator, looked up at every request.
import type { Platform } from '@trunkline/core/domain/account'
import type { PlatformId } from '@trunkline/core/domain/ids'
import type { AuditEntry, PlatformStore } from '@trunkline/core/ports/store'
import type { Selectable } from 'kysely'
import { appendAudit } from './audit-entries.ts'
import type { Database } from './database.ts'
import { readTexts, writeDocument } from './documents.ts'
import type { Session } from './session.ts'

type Row = Selectable<Database['platforms']>

const COLUMNS = ['platform_id', 'client_id', 'secret_hash', 'name', 'redirect_allow_list', 'claims', 'created_at'] as const

export class SqlPlatformStore implements PlatformStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async create(platform: Platform, secretHash: string, audit: AuditEntry): Promise<void> {
    await this.#session.write(async trx => {
      await trx
        .insertInto('platforms')
        .values({
          platform_id: platform.platformId,
          client_id: platform.clientId,
          secret_hash: secretHash,
          name: platform.name,
          redirect_allow_list: writeDocument(platform.redirectAllowList),
          created_at: platform.createdAt
        })
        .execute()
      await appendAudit(trx, audit)
    })
  }

  async findByClientId(clientId: string): Promise<{ readonly platform: Platform; readonly secretHash: string } | null> {
    const row = await this.#session.read(db =>
      db.selectFrom('platforms').select(COLUMNS).where('client_id', '=', clientId).executeTakeFirst()
    )
    return row === undefined ? null : { platform: platformOf(row), secretHash: row.secret_hash }
  }

  async find(platformId: PlatformId): Promise<Platform | null> {
    const row = await this.#session.read(db =>
      db.selectFrom('platforms').select(COLUMNS).where('platform_id', '=', platformId).executeTakeFirst()
    )
    return row === undefined ? null : platformOf(row)
  }

  async list(): Promise<readonly Platform[]> {
    const rows = await this.#session.read(db =>
      db.selectFrom('platforms').select(COLUMNS).orderBy('created_at').orderBy('platform_id').execute()
    )
    return rows.map(platformOf)
  }

  replaceSecret(platformId: PlatformId, secretHash: string, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('platforms')
        .set({ secret_hash: secretHash })
        .where('platform_id', '=', platformId)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return false
      await appendAudit(trx, audit)
      return true
    })
  }
}

function platformOf(row: Row): Platform {
  return {
    platformId: row.platform_id,
    clientId: row.client_id,
    name: row.name,
    redirectAllowList: readTexts(row.redirect_allow_list),
    createdAt: row.created_at
  }
}
