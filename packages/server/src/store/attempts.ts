// Connection attempts: the life of one portal link.
import type { ConnectionAttempt } from '@trunkline/core/domain/account'
import type { AttemptId, BrokerId } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { AttemptStore, AuditEntry, PendingLogin, SealedValue } from '@trunkline/core/ports/store'
import type { Selectable } from 'kysely'
import { appendAudit } from './audit-entries.ts'
import type { Database } from './database.ts'
import { isEnabled, isKeyEnabled } from './removal.ts'
import type { Session } from './session.ts'

type Row = Selectable<Database['connection_attempts']>

/** Statuses that are not final. */
export const LIVE_ATTEMPTS = ['open', 'authorizing'] as const

export class SqlAttemptStore implements AttemptStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  create(attempt: ConnectionAttempt, tokenHash: string, audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      if (!(await isEnabled(trx, attempt.userKey)) || !(await isKeyEnabled(trx, attempt.keyId))) return false
      await trx
        .insertInto('connection_attempts')
        .values({
          attempt_id: attempt.attemptId,
          platform_id: attempt.platformId,
          user_key: attempt.userKey,
          token_hash: tokenHash,
          connection_type: attempt.connectionType,
          broker: attempt.broker,
          chosen_broker: attempt.chosenBroker,
          redirect_url: attempt.redirectUrl,
          redirect_on_error_url: attempt.redirectOnErrorUrl,
          created_at: attempt.createdAt,
          expires_at: attempt.expiresAt,
          status: attempt.status,
          browser_hash: attempt.browserHash,
          state_hash: attempt.stateHash,
          login_tries: 0,
          renew_connection_id: attempt.renewConnectionId,
          key_id: attempt.keyId
        })
        .execute()
      await appendAudit(trx, audit)
      return true
    })
  }

  async findByTokenHash(tokenHash: string): Promise<ConnectionAttempt | null> {
    const row = await this.#session.read(db =>
      db.selectFrom('connection_attempts').selectAll().where('token_hash', '=', tokenHash).executeTakeFirst()
    )
    return row === undefined ? null : attemptOf(row)
  }

  async findByStateHash(stateHash: string): Promise<PendingLogin | null> {
    const row = await this.#session.read(db =>
      db.selectFrom('connection_attempts').selectAll().where('state_hash', '=', stateHash).executeTakeFirst()
    )
    if (row === undefined || row.verifier === null || row.verifier_revision === null) return null
    const verifier = { sealed: new Uint8Array(row.verifier), revision: row.verifier_revision }
    return { attempt: attemptOf(row), verifier, stateMadeAt: row.state_made_at }
  }

  bindBrowser(attemptId: AttemptId, browserHash: string): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('connection_attempts')
        .set({ browser_hash: browserHash })
        .where('attempt_id', '=', attemptId)
        .where(row => row.or([row('browser_hash', 'is', null), row('browser_hash', '=', browserHash)]))
        .executeTakeFirst()
      return numUpdatedRows > 0n
    })
  }

  begin(
    attemptId: AttemptId,
    step: { readonly broker: BrokerId; readonly stateHash: string; readonly verifier: SealedValue; readonly at: Timestamp }
  ): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('connection_attempts')
        .set({
          status: 'authorizing',
          chosen_broker: step.broker,
          state_hash: step.stateHash,
          state_made_at: step.at,
          verifier: step.verifier.sealed,
          verifier_revision: step.verifier.revision
        })
        .where('attempt_id', '=', attemptId)
        .where('status', 'in', LIVE_ATTEMPTS)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    })
  }

  consumeState(attemptId: AttemptId, stateHash: string): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('connection_attempts')
        .set({ state_hash: null, verifier: null, verifier_revision: null })
        .where('attempt_id', '=', attemptId)
        .where('state_hash', '=', stateHash)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    })
  }

  countTry(attemptId: AttemptId, max: number): Promise<number | null> {
    return this.#session.write(async trx => {
      const row = await trx
        .updateTable('connection_attempts')
        .set(({ eb }) => ({ login_tries: eb('login_tries', '+', 1) }))
        .where('attempt_id', '=', attemptId)
        .where('status', 'in', LIVE_ATTEMPTS)
        .where('login_tries', '<', max)
        .returning('login_tries')
        .executeTakeFirst()
      return row?.login_tries ?? null
    })
  }

  async tries(attemptId: AttemptId): Promise<number> {
    const row = await this.#session.read(db =>
      db.selectFrom('connection_attempts').select('login_tries').where('attempt_id', '=', attemptId).executeTakeFirst()
    )
    return row?.login_tries ?? 0
  }

  end(attemptId: AttemptId, status: 'declined' | 'failed', audit: AuditEntry): Promise<boolean> {
    return this.#session.write(async trx => {
      const { numUpdatedRows } = await trx
        .updateTable('connection_attempts')
        .set({ status, state_hash: null, verifier: null, verifier_revision: null })
        .where('attempt_id', '=', attemptId)
        .where('status', 'in', LIVE_ATTEMPTS)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return false
      await appendAudit(trx, audit)
      return true
    })
  }

  prune(at: Timestamp): Promise<number> {
    return this.#session.write(async trx => {
      const { numDeletedRows } = await trx.deleteFrom('connection_attempts').where('expires_at', '<', at).executeTakeFirst()
      return Number(numDeletedRows)
    })
  }
}

function attemptOf(row: Row): ConnectionAttempt {
  return {
    attemptId: row.attempt_id,
    platformId: row.platform_id,
    userKey: row.user_key,
    keyId: row.key_id,
    connectionType: row.connection_type,
    broker: row.broker,
    renewConnectionId: row.renew_connection_id,
    chosenBroker: row.chosen_broker,
    redirectUrl: row.redirect_url,
    redirectOnErrorUrl: row.redirect_on_error_url,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    status: row.status,
    browserHash: row.browser_hash,
    stateHash: row.state_hash
  }
}
