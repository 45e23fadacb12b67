import { ServiceError } from '../../domain/errors.ts'
import type { UserId } from '../../domain/ids.ts'
import { audited, type PlatformCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'
import { lookedUp } from '../looked-up.ts'

/**
 * Deletes a user with every connection and record; the brokers' tokens are revoked in the background. Open orders stay at the brokers. The
 * removal first waits a moment for pending answers of brokers, see `Removals`. @throws ServiceError user_not_found.
 */
export async function deleteUser(
  { store, clock, bus, removals }: Pick<AppDeps, 'store' | 'clock' | 'bus' | 'removals'>,
  caller: PlatformCaller,
  userId: UserId
): Promise<void> {
  const known = await store.users.find(caller.platform.platformId, userId)
  if (known === null) throw new ServiceError('user_not_found', 'There is no user with this user_id.')
  const { userKey } = known.user
  // Read before the removal: its users must be notified, even if the response to the removal is lost.
  const connections = await store.connections.listByUser(userKey, null)
  const entry = () => audited(clock, caller, 'user.delete', userKey)
  const removed = await removals.carryOut({ connections, entry }, audit =>
    lookedUp(
      () => store.users.remove(userKey, clock.now(), audit),
      async () => ((await store.users.findByKey(userKey)) === null ? connections.map(({ connectionId }) => connectionId) : null)
    )
  )
  for (const connectionId of removed) bus.publish({ type: 'connection_removed', userKey, connectionId })
  bus.publish({ type: 'user_removed', userKey })
}
