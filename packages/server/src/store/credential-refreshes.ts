// Claims to refresh a connection's credentials: one node at a time, for a limited time.
import type { ConnectionId, UserKey } from '@trunkline/core/domain/ids'
import { epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { RefreshClaim, RefreshClaimed } from '@trunkline/core/ports/store'
import type { Kysely } from 'kysely'
import type { Database } from './database.ts'

type Db = Kysely<Database>

/**
 * Within a transaction: the credentials' row is locked first, so that a later caller sees what earlier ones claimed or wrote. Then
 * `mayClaim` is asked, which throws if the user's credentials are not to be refreshed here.
 */
export async function claim(
  trx: Db,
  connectionId: ConnectionId,
  { revision, holder, at, until }: RefreshClaim,
  mayClaim: (userKey: UserKey) => Promise<void>
): Promise<RefreshClaimed> {
  const sealed = await trx
    .selectFrom('connection_credentials')
    .select(['revision', 'user_key'])
    .where('connection_id', '=', connectionId)
    .forUpdate()
    .executeTakeFirst()
  if (sealed?.revision !== revision) return { kind: 'moved' }
  await mayClaim(sealed.user_key)
  const known = await trx
    .selectFrom('credential_refreshes')
    .select(['holder', 'held_until'])
    .where('connection_id', '=', connectionId)
    .where('revision', '=', revision)
    .executeTakeFirst()
  const heldUntil = known?.held_until ?? null
  const isOwn = known?.holder === holder
  if (heldUntil !== null && !isOwn && heldUntil > at && heldUntil <= latestUntil(at, until)) return { kind: 'held', until: heldUntil }
  await trx
    .insertInto('credential_refreshes')
    .values({ connection_id: connectionId, revision, holder, held_until: until })
    .onConflict(conflict => conflict.column('connection_id').doUpdateSet({ revision, holder, held_until: until }))
    .execute()
  return { kind: 'taken', mayBeSpent: known !== undefined && (heldUntil === null || !isOwn) }
}

/** A claim that ends later was made by a clock that has been set back since; clocks of two nodes differ by less. */
function latestUntil(at: Timestamp, until: Timestamp): Timestamp {
  return timestampOfMs(2 * epochMs(until) - epochMs(at))
}

export async function release(
  trx: Db,
  connectionId: ConnectionId,
  { revision, holder }: Pick<RefreshClaim, 'revision' | 'holder'>,
  mayBeSpent: boolean
): Promise<void> {
  if (mayBeSpent) {
    await trx
      .updateTable('credential_refreshes')
      .set({ held_until: null })
      .where('connection_id', '=', connectionId)
      .where('revision', '=', revision)
      .where('holder', '=', holder)
      .execute()
    return
  }
  await trx
    .deleteFrom('credential_refreshes')
    .where('connection_id', '=', connectionId)
    .where('revision', '=', revision)
    .where('holder', '=', holder)
    .execute()
}

/** After new credentials, the state of the old ones' refresh is void. */
export async function forget(trx: Db, connectionId: ConnectionId): Promise<void> {
  await trx.deleteFrom('credential_refreshes').where('connection_id', '=', connectionId).execute()
}
