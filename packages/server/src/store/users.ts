// Users, and removing them with everything under them.
import type { User } from '@trunkline/core/domain/account'
import type { ConnectionId, PlatformId, UserId, UserKey } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { AuditEntry, KnownUser, Page, PageRequest, RemovalAudit, UserFilter, UserStore } from '@trunkline/core/ports/store'
import { type Kysely, type Selectable, sql } from 'kysely'
import { appendAudit } from './audit-entries.ts'
import { revokeOf } from './claims.ts'
import type { Database } from './database.ts'
import type { Eraser } from './eraser.ts'
import { edgeKeys, pageOf, walkOf } from './page.ts'
import { endAttempts, eraseMarketTokens, lockUser, markEventsForErasure, markOrdersForErasure, removalEntries } from './removal.ts'
import { keepOfConnections } from './revocations.ts'
import type { Session } from './session.ts'
import { searchable } from './types.ts'

type Row = Selectable<Database['users']>

const COLUMNS = ['user_key', 'platform_id', 'user_id', 'secret_hash', 'created_at', 'disabled_at'] as const

export class SqlUserStore implements UserStore {
  readonly #session: Session
  readonly #eraser: Eraser

  constructor(session: Session, eraser: Eraser) {
    this.#session = session
    this.#eraser = eraser
  }

  create({ userKey, platformId, userId, createdAt }: User, secretHash: string, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const created = await trx
        .insertInto('users')
        .values({ user_key: userKey, platform_id: platformId, user_id: userId, secret_hash: secretHash, created_at: createdAt })
        .onConflict(conflict => conflict.columns(['platform_id', 'user_id']).doNothing())
        .returning('user_key')
        .executeTakeFirst()
      if (created === undefined) return false
      await trx.insertInto('user_counters').values({ user_key: userKey, last_seq: 0 }).execute()
      await appendAudit(trx, audit)
      return true
    })
  }

  async find(platformId: PlatformId, userId: UserId): Promise<KnownUser | null> {
    const [row] = await this.#session.rows<Row>(BY_USER_ID, [platformId, userId])
    return row === undefined ? null : { user: userOf(row), secretHash: row.secret_hash, disabledAt: row.disabled_at }
  }

  async findByKey(userKey: UserKey): Promise<User | null> {
    const row = await this.#session.read(db => db.selectFrom('users').select(COLUMNS).where('user_key', '=', userKey).executeTakeFirst())
    return row === undefined ? null : userOf(row)
  }

  async enabledOf(userKeys: readonly UserKey[]): Promise<ReadonlySet<UserKey>> {
    const rows = await this.#session.rows<{ user_key: UserKey }>(
      'select user_key from users where user_key = any ($1) and disabled_at is null',
      [userKeys]
    )
    return new Set(rows.map(row => row.user_key))
  }

  async list(platformId: PlatformId, filter: UserFilter, sort: 'createdAt' | 'userId', page: PageRequest): Promise<Page<User>> {
    const walk = walkOf(page)
    const column = sql.ref(sort === 'createdAt' ? 'created_at' : 'user_id')
    const type = sql.raw(sort === 'createdAt' ? 'timestamptz' : 'text')
    const [value, unique] = page.edge === null ? ['', ''] : edgeKeys(page.edge)
    const side = (comparison: '<' | '>' | '<=' | '>=') =>
      sql<boolean>`(${column}, user_key) ${sql.raw(comparison)} (${value}::${type}, ${unique}::uuid)`
    return this.#session.read(async db => {
      let forward = matching(db, platformId, filter).select(COLUMNS)
      if (page.edge !== null) forward = forward.where(side(walk.beyond))
      const rows = await forward.orderBy(column, walk.direction).orderBy('user_key', walk.direction).limit(walk.limit).execute()
      const behind =
        page.edge !== null &&
        (await matching(db, platformId, filter).select('user_key').where(side(walk.behind)).limit(1).executeTakeFirst()) !== undefined
      return pageOf(rows, page, behind, {
        row: userOf,
        key: row => [sort === 'createdAt' ? row.created_at : row.user_id, row.user_key]
      })
    })
  }

  replaceSecret(userKey: UserKey, secretHash: string, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      // A concurrent token is created before, and is erased, or after, and needs the new secret.
      if (!(await lockUser(trx, userKey))) return false
      await trx.updateTable('users').set({ secret_hash: secretHash }).where('user_key', '=', userKey).execute()
      await eraseMarketTokens(trx, { userKey })
      await appendAudit(trx, audit)
      return true
    })
  }

  setDisabled(userKey: UserKey, at: Timestamp | null, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx.updateTable('users').set({ disabled_at: at }).where('user_key', '=', userKey).executeTakeFirst()
      if (numUpdatedRows === 0n) return false
      if (at !== null) {
        await eraseMarketTokens(trx, { userKey })
        await endAttempts(trx, { userKey })
      }
      await appendAudit(trx, audit)
      return true
    })
  }

  async remove(userKey: UserKey, at: Timestamp, audit: AuditEntry | RemovalAudit): Promise<readonly ConnectionId[]> {
    const removed = await this.#session.write(async trx => {
      if (!(await lockUser(trx, userKey))) return []
      // Only the owner refuses new orders meanwhile.
      await this.#session.demandOwned(trx, userKey)
      const connections = await trx.selectFrom('connections').select('connection_id').where('user_key', '=', userKey).execute()
      const ids = connections.map(({ connection_id }) => connection_id)
      await keepOfConnections(trx, ids, at)
      await revokeOf(trx, userKey, at)
      const entries = await removalEntries(trx, ids, audit)
      await markOrdersForErasure(trx, ids)
      await markEventsForErasure(trx, userKey)
      await trx.deleteFrom('users').where('user_key', '=', userKey).execute()
      for (const entry of entries) await appendAudit(trx, entry)
      return ids
    })
    await this.#eraser.startAndWait()
    return removed
  }
}

function matching(db: Kysely<Database>, platformId: PlatformId, filter: UserFilter) {
  let query = db.selectFrom('users').where('platform_id', '=', platformId)
  if (filter.userId !== undefined) query = query.where('user_id', '=', filter.userId)
  if (filter.createdFrom !== undefined) query = query.where('created_at', '>=', sql<Timestamp>`${searchable(filter.createdFrom)}`)
  if (filter.createdTo !== undefined) query = query.where('created_at', '<=', sql<Timestamp>`${searchable(filter.createdTo)}`)
  const { accountNumber, accountId, connectionId } = filter
  if (connectionId !== undefined)
    query = query.where('user_key', 'in', db.selectFrom('connections').select('user_key').where('connection_id', '=', connectionId))
  if (accountNumber !== undefined || accountId !== undefined) {
    let accounts = db.selectFrom('accounts').select('user_key')
    if (accountNumber !== undefined) accounts = accounts.where('account_number', '=', accountNumber)
    if (accountId !== undefined) accounts = accounts.where('account_id', '=', accountId)
    query = query.where('user_key', 'in', accounts)
  }
  return query
}

const BY_USER_ID = `select user_key, platform_id, user_id, secret_hash, created_at, disabled_at from users
  where platform_id = $1 and user_id = $2`

function userOf(row: Row): User {
  return { userKey: row.user_key, platformId: row.platform_id, userId: row.user_id, createdAt: row.created_at }
}
