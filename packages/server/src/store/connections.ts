// Connections with their accounts and sealed credentials, and the logins of removed ones that are still to be revoked.
import type { Account, BrokerEndpoint, Connection } from '@trunkline/core/domain/account'
import type { AttemptId, BrokerId, ConnectionId, PlatformId, UserKey } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { BrokenCode, ConnectionStatus } from '@trunkline/core/domain/vocabulary'
import type {
  AuditEntry,
  ConnectionStore,
  EndpointItem,
  Page,
  PageRequest,
  PendingClaim,
  RefreshClaim,
  RefreshClaimed,
  RemovalAudit,
  Renewal,
  Renewed,
  Revocation,
  RewrapItem,
  SealedValue
} from '@trunkline/core/ports/store'
import { type Kysely, type Selectable, sql } from 'kysely'
import { accountRowOf } from './account-rows.ts'
import { LIVE_ATTEMPTS } from './attempts.ts'
import { appendAudit } from './audit-entries.ts'
import * as claims from './claims.ts'
import * as refreshes from './credential-refreshes.ts'
import * as credentials from './credentials.ts'
import type { Database } from './database.ts'
import * as endpoints from './endpoints.ts'
import type { Eraser } from './eraser.ts'
import { edgeKeys, pageOf, walkOf } from './page.ts'
import { isEnabled, lockUser, markOrdersForErasure, removalEntries } from './removal.ts'
import * as renewals from './renewals.ts'
import * as revocations from './revocations.ts'
import type { Session } from './session.ts'
import { storable } from './types.ts'

type Row = Selectable<Database['connections']>

export class SqlConnectionStore implements ConnectionStore {
  readonly #session: Session
  readonly #eraser: Eraser

  constructor(session: Session, eraser: Eraser) {
    this.#session = session
    this.#eraser = eraser
  }

  create(
    connection: Connection,
    accounts: readonly Account[],
    credentials: SealedValue,
    attemptId: AttemptId,
    audit: AuditEntry,
    pending?: PendingClaim
  ): Promise<boolean> {
    return this.#session.write(async trx => {
      if (!(await lockUser(trx, connection.userKey)) || !(await isEnabled(trx, connection.userKey))) return false
      const { numUpdatedRows } = await trx
        .updateTable('connection_attempts')
        .set({ status: 'completed', state_hash: null, verifier: null, verifier_revision: null })
        .where('attempt_id', '=', attemptId)
        .where('status', 'in', LIVE_ATTEMPTS)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return false
      if (pending === undefined) await insert(trx, connection, accounts, credentials)
      else await claims.put(trx, { connection, accounts, credentials }, pending)
      await appendAudit(trx, audit)
      return true
    })
  }

  claim(
    connectionId: ConnectionId,
    userKey: UserKey,
    { codeHash, at, audit }: { readonly codeHash: string; readonly at: Timestamp; readonly audit: AuditEntry }
  ): Promise<'claimed' | 'refused' | 'unknown'> {
    return this.#session.write(async trx => {
      if (!(await lockUser(trx, userKey)) || !(await isEnabled(trx, userKey))) return 'unknown'
      const taken = await claims.take(trx, connectionId, userKey, { codeHash, at })
      if (typeof taken === 'string') return taken
      await insert(trx, taken.connection, taken.accounts, taken.credentials)
      await appendAudit(trx, audit)
      return 'claimed'
    })
  }

  expireClaims(at: Timestamp, limit: number): Promise<number> {
    return this.#session.write(trx => claims.expire(trx, at, limit))
  }

  async find(connectionId: ConnectionId): Promise<Connection | null> {
    const row = await this.#session.read(db =>
      db.selectFrom('connections').selectAll().where('connection_id', '=', connectionId).executeTakeFirst()
    )
    return row === undefined ? null : connectionOf(row)
  }

  findUnclaimed(connectionId: ConnectionId): Promise<Connection | null> {
    return this.#session.read(db => claims.find(db, connectionId))
  }

  reaches(broker: BrokerId, brokerAccountIds: readonly string[]): Promise<boolean> {
    if (brokerAccountIds.length === 0) return Promise.resolve(false)
    return this.#session.read(async db => {
      const account = await db
        .selectFrom('accounts')
        .select('account_id')
        .where('broker', '=', broker)
        .where('broker_account_id', 'in', [...brokerAccountIds])
        .limit(1)
        .executeTakeFirst()
      return account !== undefined || claims.reach(db, broker, brokerAccountIds)
    })
  }

  async listByUser(userKey: UserKey, status: ConnectionStatus | null): Promise<readonly Connection[]> {
    const rows = await this.#session.rows<Row>(BY_USER, [userKey, status])
    return rows.map(connectionOf)
  }

  listByPlatform(platformId: PlatformId, status: ConnectionStatus | null, page: PageRequest): Promise<Page<Connection>> {
    const walk = walkOf(page)
    const [value, unique] = page.edge === null ? ['', ''] : edgeKeys(page.edge)
    const side = (comparison: '<' | '>' | '<=' | '>=') =>
      sql<boolean>`(created_at, connection_id) ${sql.raw(comparison)} (${value}::timestamptz, ${unique}::uuid)`
    return this.#session.read(async db => {
      let forward = matching(db, platformId, status).selectAll()
      if (page.edge !== null) forward = forward.where(side(walk.beyond))
      const rows = await forward.orderBy('created_at', walk.direction).orderBy('connection_id', walk.direction).limit(walk.limit).execute()
      const behind =
        page.edge !== null &&
        (await matching(db, platformId, status).select('connection_id').where(side(walk.behind)).limit(1).executeTakeFirst()) !== undefined
      return pageOf(rows, page, behind, { row: connectionOf, key: row => [row.created_at, row.connection_id] })
    })
  }

  async withUnfinishedOrders(): Promise<readonly Connection[]> {
    const rows = await this.#session.read(db =>
      db
        .selectFrom('connections')
        .selectAll()
        .where('connection_id', 'in', db.selectFrom('orders').select('connection_id').where('is_open', '=', true))
        .orderBy('created_at')
        .orderBy('connection_id')
        .execute()
    )
    return rows.map(connectionOf)
  }

  credentials(connectionId: ConnectionId): Promise<SealedValue | null> {
    return this.#session.read(db => credentials.find(db, connectionId))
  }

  claimRefresh(connectionId: ConnectionId, claim: RefreshClaim): Promise<RefreshClaimed> {
    return this.#session.write(trx => refreshes.claim(trx, connectionId, claim, userKey => this.#session.demandOwned(trx, userKey)))
  }

  async releaseRefresh(connectionId: ConnectionId, claim: Pick<RefreshClaim, 'revision' | 'holder'>, mayBeSpent: boolean): Promise<void> {
    await this.#session.write(trx => refreshes.release(trx, connectionId, claim, mayBeSpent))
  }

  replaceCredentials(connectionId: ConnectionId, revision: number, next: SealedValue): Promise<boolean> {
    return this.#session.write(async trx => {
      const isReplaced = await credentials.replace(trx, connectionId, revision, next)
      if (isReplaced) await refreshes.forget(trx, connectionId)
      return isReplaced
    })
  }

  renew(renewal: Renewal): Promise<Renewed> {
    return this.#session.write(trx => renewals.renew(trx, renewal))
  }

  markBroken(
    connectionId: ConnectionId,
    reason: string,
    at: Timestamp,
    audit: AuditEntry,
    code: BrokenCode = 'credentials_rejected'
  ): Promise<boolean> {
    return this.#session.write(async trx => {
      const broken = await trx
        .updateTable('connections')
        .set({ status: 'BROKEN', broken_code: code, broken_reason: storable(reason), updated_at: at })
        .where('connection_id', '=', connectionId)
        .where('status', '=', 'ACTIVE')
        .returning('user_key')
        .executeTakeFirst()
      if (broken === undefined) return false
      // The next owner may have renewed the credentials that were rejected here.
      await this.#session.demandOwned(trx, broken.user_key)
      await appendAudit(trx, audit)
      return true
    })
  }

  endpoints(broker: BrokerId): Promise<readonly BrokerEndpoint[]> {
    return this.#session.read(db => endpoints.list(db, broker))
  }

  suspend(broker: BrokerId, was: BrokerEndpoint, reason: string, at: Timestamp, audit: AuditEntry): Promise<number> {
    return this.#session.write(trx => endpoints.suspend(trx, broker, was, { reason, at, audit }))
  }

  resume(broker: BrokerId, endpoint: BrokerEndpoint, at: Timestamp, audit: AuditEntry): Promise<number> {
    return this.#session.write(trx => endpoints.resume(trx, broker, endpoint, { at, audit }))
  }

  withoutEndpoint(
    place: EndpointItem['item']['place'],
    broker: BrokerId,
    after: ConnectionId | null,
    limit: number
  ): Promise<readonly EndpointItem['item'][]> {
    return this.#session.read(db => endpoints.missing(db, { place, broker, after, limit }))
  }

  async recordEndpoint(items: readonly EndpointItem[], endpoint: BrokerEndpoint, audit: AuditEntry): Promise<void> {
    await this.#session.write(trx => endpoints.record(trx, items, endpoint, audit))
  }

  async remove(connectionId: ConnectionId, at: Timestamp, audit: AuditEntry | RemovalAudit): Promise<boolean> {
    const removed = await this.#session.write(async trx => {
      const owner = await trx.selectFrom('connections').select('user_key').where('connection_id', '=', connectionId).executeTakeFirst()
      if (owner === undefined || !(await lockUser(trx, owner.user_key))) return false
      // Only the owner refuses new orders meanwhile.
      await this.#session.demandOwned(trx, owner.user_key)
      await revocations.keepOfConnections(trx, [connectionId], at)
      const entries = await removalEntries(trx, [connectionId], audit)
      await markOrdersForErasure(trx, [connectionId])
      const { numDeletedRows } = await trx.deleteFrom('connections').where('connection_id', '=', connectionId).executeTakeFirst()
      if (numDeletedRows === 0n) return false
      for (const entry of entries) await appendAudit(trx, entry)
      return true
    })
    if (removed) await this.#eraser.startAndWait()
    return removed
  }

  dueRevocations(at: Timestamp, limit: number): Promise<readonly Revocation[]> {
    return this.#session.read(db => revocations.due(db, at, limit))
  }

  async postponeRevocation(connectionId: ConnectionId, until: Timestamp): Promise<void> {
    await this.#session.write(trx => revocations.postpone(trx, connectionId, until))
  }

  async finishRevocation(connectionId: ConnectionId): Promise<void> {
    await this.#session.write(trx => revocations.erase(trx, connectionId))
  }

  sealedUnderOtherKeys(keyId: string, limit: number): Promise<readonly RewrapItem[]> {
    return this.#session.read(db => credentials.underOtherKeys(db, keyId, limit))
  }

  rewrapped(item: RewrapItem, sealed: Uint8Array, keyId: string): Promise<boolean> {
    return this.#session.write(trx => credentials.rewrap(trx, item, sealed, keyId))
  }
}

async function insert(
  trx: Kysely<Database>,
  connection: Connection,
  accounts: readonly Account[],
  { sealed, revision }: SealedValue
): Promise<void> {
  await trx.insertInto('connections').values(rowOf(connection)).execute()
  await trx
    .insertInto('connection_credentials')
    .values({ connection_id: connection.connectionId, user_key: connection.userKey, sealed, revision })
    .execute()
  if (accounts.length > 0) await trx.insertInto('accounts').values(accounts.map(accountRowOf)).execute()
}

function matching(db: Kysely<Database>, platformId: PlatformId, status: ConnectionStatus | null) {
  const query = db.selectFrom('connections').where('platform_id', '=', platformId)
  return status === null ? query : query.where('status', '=', status)
}

const BY_USER = `select * from connections where user_key = $1 and ($2::text is null or status = $2)
  order by created_at desc, connection_id desc`

function connectionOf(row: Row): Connection {
  return {
    connectionId: row.connection_id,
    platformId: row.platform_id,
    userKey: row.user_key,
    userId: row.user_id,
    broker: row.broker,
    connectionType: row.connection_type,
    status: row.status,
    endpoint: row.environment === null || row.host === null ? null : { environment: row.environment, host: row.host },
    brokenCode: row.broken_code,
    brokenReason: row.broken_reason,
    createdAt: row.created_at,
    updatedAt: row.updated_at
  }
}

function rowOf(connection: Connection): Row {
  return {
    connection_id: connection.connectionId,
    platform_id: connection.platformId,
    user_key: connection.userKey,
    user_id: connection.userId,
    broker: connection.broker,
    connection_type: connection.connectionType,
    status: connection.status,
    environment: connection.endpoint?.environment ?? null,
    host: connection.endpoint?.host ?? null,
    broken_code: connection.brokenCode,
    broken_reason: connection.brokenReason,
    created_at: connection.createdAt,
    updated_at: connection.updatedAt
  }
}
