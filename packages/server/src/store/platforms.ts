// Platforms: created by the operator, looked up at every request by one of their keys.
import type { Platform, PlatformBrand } from '@trunkline/core/domain/account'
import type { KeyId, PlatformId } from '@trunkline/core/domain/ids'
import { SCOPES } from '@trunkline/core/domain/platform-key'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { AuditEntry, KnownKey, PlatformStore } from '@trunkline/core/ports/store'
import type { Selectable } from 'kysely'
import { appendAudit } from './audit-entries.ts'
import type { Database } from './database.ts'
import { readTexts, writeDocument } from './documents.ts'
import { insertKey, keyOf } from './platform-keys.ts'
import { endAttempts, eraseMarketTokens } from './removal.ts'
import type { Session } from './session.ts'

type Row = Pick<Selectable<Database['platforms']>, (typeof COLUMNS)[number]>

const COLUMNS = ['platform_id', 'client_id', 'name', 'redirect_allow_list', 'claims', 'created_at'] as const

export class SqlPlatformStore implements PlatformStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async create(platform: Platform, secretHash: string, audit: AuditEntry, brand?: PlatformBrand): Promise<void> {
    await this.#session.write(async trx => {
      await trx
        .insertInto('platforms')
        .values({
          platform_id: platform.platformId,
          client_id: platform.clientId,
          name: platform.name,
          redirect_allow_list: writeDocument(platform.redirectAllowList),
          claims: platform.claims,
          created_at: platform.createdAt,
          color: brand?.color ?? null,
          app_url: brand?.appUrl ?? null
        })
        .execute()
      await insertKey(trx, firstKey(platform), secretHash)
      await appendAudit(trx, audit)
    })
  }

  async findByClientId(clientId: string): Promise<KnownKey | null> {
    const row = await this.#session.read(db =>
      db
        .selectFrom('platform_keys')
        .innerJoin('platforms', 'platforms.platform_id', 'platform_keys.platform_id')
        .selectAll('platform_keys')
        .select([
          'platforms.client_id as platform_client_id',
          'platforms.name as platform_name',
          'platforms.redirect_allow_list',
          'platforms.claims',
          'platforms.created_at as platform_created_at',
          'platforms.disabled_at as platform_disabled_at'
        ])
        .where('platform_keys.client_id', '=', clientId)
        .executeTakeFirst()
    )
    if (row === undefined) return null
    const { platform_client_id, platform_name, platform_created_at, previous_hash, previous_until } = row
    return {
      platform: platformOf({ ...row, client_id: platform_client_id, name: platform_name, created_at: platform_created_at }),
      key: keyOf(row),
      secretHash: row.secret_hash,
      previous: previous_hash === null || previous_until === null ? null : { secretHash: previous_hash, until: previous_until },
      isPlatformDisabled: row.platform_disabled_at !== null
    }
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

  async brandOf(platformId: PlatformId): Promise<PlatformBrand | null> {
    const row = await this.#session.read(db =>
      db.selectFrom('platforms').select(['color', 'app_url']).where('platform_id', '=', platformId).executeTakeFirst()
    )
    return row === undefined ? null : { color: row.color, appUrl: row.app_url }
  }

  edit(platformId: PlatformId, { name, color, appUrl }: PlatformBrand & { readonly name: string }, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('platforms')
        .set({ name, color, app_url: appUrl })
        .where('platform_id', '=', platformId)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return false
      await appendAudit(trx, audit)
      return true
    })
  }

  replaceRedirects(platformId: PlatformId, before: readonly string[], next: readonly string[], audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('platforms')
        .set({ redirect_allow_list: writeDocument(next) })
        .where('platform_id', '=', platformId)
        .where('redirect_allow_list', '=', writeDocument(before))
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return false
      await appendAudit(trx, audit)
      return true
    })
  }

  async disabled(): Promise<ReadonlyMap<PlatformId, Timestamp>> {
    const rows = await this.#session.read(db =>
      db.selectFrom('platforms').select(['platform_id', 'disabled_at']).where('disabled_at', 'is not', null).execute()
    )
    return new Map(rows.flatMap(row => (row.disabled_at === null ? [] : [[row.platform_id, row.disabled_at] as const])))
  }

  setDisabled(platformId: PlatformId, at: Timestamp | null, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('platforms')
        .set({ disabled_at: at })
        .where('platform_id', '=', platformId)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return false
      if (at !== null) {
        await eraseMarketTokens(trx, { platformId })
        await endAttempts(trx, { platformId })
      }
      await appendAudit(trx, audit)
      return true
    })
  }
}

/** The platform's first key: the same id, its client id, and all scopes. */
function firstKey({ platformId, clientId, createdAt }: Platform) {
  return {
    keyId: platformId as string as KeyId,
    platformId,
    clientId,
    name: 'First key',
    scopes: SCOPES,
    addresses: [],
    createdAt,
    ...{ expiresAt: null, lastUsedAt: null, disabledAt: null }
  }
}

function platformOf(row: Row): Platform {
  return {
    platformId: row.platform_id,
    clientId: row.client_id,
    name: row.name,
    redirectAllowList: readTexts(row.redirect_allow_list),
    claims: row.claims,
    createdAt: row.created_at
  }
}
