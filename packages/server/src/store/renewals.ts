// Replaces a connection's login.
import type { Renewal, Renewed } from '@trunkline/core/ports/store'
import type { Kysely } from 'kysely'
import { accountRowOf } from './account-rows.ts'
import { LIVE_ATTEMPTS } from './attempts.ts'
import { appendAudit } from './audit-entries.ts'
import * as refreshes from './credential-refreshes.ts'
import * as credentials from './credentials.ts'
import type { Database } from './database.ts'
import { lockUser } from './removal.ts'

type Db = Kysely<Database>

/** Within a transaction. Everything that could conflict is locked and checked before anything is written. */
export async function renew(trx: Db, renewal: Renewal): Promise<Renewed> {
  const { connectionId, attemptId, revision, at, added } = renewal
  const obstacle = await obstacleTo(trx, renewal)
  if (obstacle !== null) return obstacle
  const { numUpdatedRows } = await trx
    .updateTable('connection_attempts')
    .set({ status: 'completed', state_hash: null, verifier: null, verifier_revision: null })
    .where('attempt_id', '=', attemptId)
    .where('status', 'in', LIVE_ATTEMPTS)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return 'ended'
  await credentials.replace(trx, connectionId, revision, renewal.credentials)
  await refreshes.forget(trx, connectionId)
  await trx
    .updateTable('connections')
    .set({ status: 'ACTIVE', broken_code: null, broken_reason: null, updated_at: at })
    .where('connection_id', '=', connectionId)
    .execute()
  if (added.length > 0) {
    const { last } = await trx
      .selectFrom('accounts')
      .select(({ fn }) => fn.max('place').as('last'))
      .where('connection_id', '=', connectionId)
      .executeTakeFirstOrThrow()
    const first = (last ?? -1) + 1
    const rows = added.map((account, index) => accountRowOf(account, first + index))
    await trx.insertInto('accounts').values(rows).execute()
  }
  await appendAudit(trx, renewal.audit)
  return 'renewed'
}

async function obstacleTo(
  trx: Db,
  { connectionId, userKey, endpoint, revision }: Renewal
): Promise<Exclude<Renewed, 'renewed' | 'ended'> | null> {
  if (!(await lockUser(trx, userKey))) return 'gone'
  const connection = await trx
    .selectFrom('connections')
    .select('connection_id')
    .where('connection_id', '=', connectionId)
    .where('user_key', '=', userKey)
    .where('environment', '=', endpoint.environment)
    .where('host', '=', endpoint.host)
    .forUpdate()
    .executeTakeFirst()
  if (connection === undefined) return 'gone'
  const present = await trx
    .selectFrom('connection_credentials')
    .select('revision')
    .where('connection_id', '=', connectionId)
    .forUpdate()
    .executeTakeFirst()
  return present?.revision === revision ? null : 'moved'
}
