// What operators prove themselves with: one-time codes, sessions and keys, each by its hash.
import type { OperatorKeyId, OperatorSessionId } from '@trunkline/core/domain/ids'
import { type OperatorKey, type OperatorSession, parseOperatorScopes } from '@trunkline/core/domain/operator'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { LoginUse, NewOperatorCode, NewOperatorSession, OperatorStore, ProvenOperator } from '@trunkline/core/ports/operator-store'
import { type AuditEntry, CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import { appendAudit } from './audit-entries.ts'
import type { Database } from './database.ts'
import { readTexts, writeDocument } from './documents.ts'
import type { Session } from './session.ts'

type SessionRow = Selectable<Database['operator_sessions']>
type KeyRow = Selectable<Database['operator_keys']>

const now = sql<Timestamp>`clock_timestamp()`
const inMs = (ms: number) => sql<Timestamp>`clock_timestamp() + ${ms} * interval '1 millisecond'`
const msAgo = (ms: number) => sql<Timestamp>`clock_timestamp() - ${ms} * interval '1 millisecond'`
/** How exact `last_used_at` is: a write for each request would cost more than the request. */
const USED_EVERY_MS = 60_000

export class SqlOperatorStore implements OperatorStore {
  readonly #session: Session
  /** Sessions and keys whose use is being noted. */
  readonly #noting = new Set<string>()

  constructor(session: Session) {
    this.#session = session
  }

  createCode({ codeHash, operator, scopes, lifetimeMs }: NewOperatorCode, audit: AuditEntry): Promise<Timestamp> {
    return this.#session.write(async trx => {
      await trx.deleteFrom('operator_codes').where('expires_at', '<', now).execute()
      await trx.deleteFrom('operator_sessions').where('expires_at', '<', now).execute()
      const { expires_at: expiresAt } = await trx
        .insertInto('operator_codes')
        .values({ code_hash: codeHash, operator, scopes: writeDocument(scopes), expires_at: inMs(lifetimeMs) })
        .returning('expires_at')
        .executeTakeFirstOrThrow()
      await appendAudit(trx, audit)
      return expiresAt
    })
  }

  exchange(codeHash: string, session: NewOperatorSession, auditOf: (operator: string) => AuditEntry): Promise<OperatorSession | null> {
    return this.#session.write(async trx => {
      const code = await trx
        .deleteFrom('operator_codes')
        .where('code_hash', '=', codeHash)
        .where('expires_at', '>', now)
        .returning(['operator', 'scopes'])
        .executeTakeFirst()
      if (code === undefined) return null
      const made = await addSession(trx, session, { ...code, origin: 'code' })
      await appendAudit(trx, auditOf(code.operator))
      return made
    })
  }

  useLogin(stateHash: string, keptMs: number, notesMax: number): Promise<LoginUse> {
    return this.#session.write(async trx => {
      await trx.deleteFrom('operator_logins').where('expires_at', '<', now).execute()
      const { notes } = await trx.selectFrom('operator_logins').select(sql<string>`count(*)`.as('notes')).executeTakeFirstOrThrow()
      if (Number(notes) >= notesMax) return 'full'
      const { numInsertedOrUpdatedRows: noted } = await trx
        .insertInto('operator_logins')
        .values({ state_hash: stateHash, expires_at: inMs(keptMs) })
        .onConflict(conflict => conflict.column('state_hash').doNothing())
        .executeTakeFirst()
      return noted === 1n ? 'first' : 'again'
    })
  }

  createSession(session: NewOperatorSession, of: ProvenOperator, audit: AuditEntry): Promise<OperatorSession> {
    return this.#session.write(async trx => {
      await trx.deleteFrom('operator_sessions').where('expires_at', '<', now).execute()
      const row = await addSession(trx, session, { operator: of.operator, scopes: writeDocument(of.scopes), origin: 'oidc' })
      await appendAudit(trx, audit)
      return row
    })
  }

  async useSession(secretHash: string, idleMs: number): Promise<OperatorSession | null> {
    const row = await this.#session.read(db =>
      liveSessions(db, idleMs)
        .selectAll()
        .select(sql<boolean>`last_used_at < ${msAgo(USED_EVERY_MS)}`.as('is_stale'))
        .where('secret_hash', '=', secretHash)
        .executeTakeFirst()
    )
    if (row === undefined) return null
    if (row.is_stale)
      await this.#note(row.session_id, trx =>
        trx.updateTable('operator_sessions').set({ last_used_at: now }).where('session_id', '=', row.session_id).execute()
      )
    return sessionOf(row)
  }

  async sessions(idleMs: number, limit: number): Promise<readonly OperatorSession[]> {
    const rows = await this.#session.read(db => liveSessions(db, idleMs).selectAll().orderBy('created_at', 'desc').limit(limit).execute())
    return rows.map(sessionOf)
  }

  endSession(sessionId: OperatorSessionId, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numDeletedRows } = await trx.deleteFrom('operator_sessions').where('session_id', '=', sessionId).executeTakeFirst()
      return audited(trx, numDeletedRows, audit)
    })
  }

  createKey(key: OperatorKey, secretHash: string, max: number, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      // Of two that come at once, the second counts the first.
      await sql`select pg_advisory_xact_lock(hashtext('operator_keys'))`.execute(trx)
      const { keys } = await trx.selectFrom('operator_keys').select(sql<number>`count(*)::int`.as('keys')).executeTakeFirstOrThrow()
      if (keys >= max) return false
      await trx
        .insertInto('operator_keys')
        .values({
          key_id: key.keyId,
          secret_hash: secretHash,
          name: key.name,
          scopes: writeDocument(key.scopes),
          created_by: key.createdBy,
          created_at: key.createdAt,
          last_used_at: null,
          expires_at: key.expiresAt
        })
        .execute()
      await appendAudit(trx, audit)
      return true
    })
  }

  async useKey(secretHash: string): Promise<OperatorKey | null> {
    const row = await this.#session.read(db =>
      db
        .selectFrom('operator_keys')
        .selectAll()
        .select(sql<boolean>`last_used_at is null or last_used_at < ${msAgo(USED_EVERY_MS)}`.as('is_stale'))
        .where('secret_hash', '=', secretHash)
        .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
        .executeTakeFirst()
    )
    if (row === undefined) return null
    if (row.is_stale)
      await this.#note(row.key_id, trx =>
        trx.updateTable('operator_keys').set({ last_used_at: now }).where('key_id', '=', row.key_id).execute()
      )
    return keyOf(row)
  }

  /**
   * Notes a use, one request for all that come meanwhile. One that cannot be noted, on a full disk say, keeps nobody out: at worst an idle
   * session ends early.
   */
  async #note(id: string, write: (trx: Transaction<Database>) => Promise<unknown>): Promise<void> {
    if (this.#noting.has(id)) return
    this.#noting.add(id)
    try {
      await this.#session.write(write)
    } catch (cause) {
      if (!(cause instanceof StoreUnavailable || cause instanceof CommitUnknown)) throw cause
    } finally {
      this.#noting.delete(id)
    }
  }

  async keys(): Promise<readonly OperatorKey[]> {
    const rows = await this.#session.read(db =>
      db.selectFrom('operator_keys').selectAll().orderBy('created_at').orderBy('key_id').execute()
    )
    return rows.map(keyOf)
  }

  revokeKey(keyId: OperatorKeyId, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numDeletedRows } = await trx.deleteFrom('operator_keys').where('key_id', '=', keyId).executeTakeFirst()
      return audited(trx, numDeletedRows, audit)
    })
  }
}

async function addSession(
  trx: Kysely<Database>,
  { sessionId, secretHash, lifetimeMs }: NewOperatorSession,
  of: Pick<SessionRow, 'operator' | 'scopes' | 'origin'>
): Promise<OperatorSession> {
  const row = await trx
    .insertInto('operator_sessions')
    .values({
      ...{ session_id: sessionId, secret_hash: secretHash, operator: of.operator, scopes: of.scopes, origin: of.origin },
      ...{ created_at: now, last_used_at: now, expires_at: inMs(lifetimeMs) }
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return sessionOf(row)
}

function liveSessions(db: Kysely<Database>, idleMs: number) {
  return db.selectFrom('operator_sessions').where('expires_at', '>', now).where('last_used_at', '>', msAgo(idleMs))
}

async function audited(trx: Kysely<Database>, rows: bigint, audit: AuditEntry): Promise<boolean> {
  if (rows === 0n) return false
  await appendAudit(trx, audit)
  return true
}

function sessionOf(row: SessionRow): OperatorSession {
  return {
    sessionId: row.session_id,
    operator: row.operator,
    scopes: parseOperatorScopes(readTexts(row.scopes)),
    origin: row.origin,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at
  }
}

function keyOf(row: KeyRow): OperatorKey {
  return {
    keyId: row.key_id,
    name: row.name,
    scopes: parseOperatorScopes(readTexts(row.scopes)),
    createdBy: row.created_by,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at
  }
}
