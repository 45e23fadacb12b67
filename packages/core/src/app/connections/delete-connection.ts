import { ServiceError } from '../../domain/errors.ts'
import type { ConnectionId } from '../../domain/ids.ts'
import { audited, type UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'
import { lookedUp } from '../looked-up.ts'
import { ownedConnection } from './owned.ts'

/** Removes the connection and its records; its broker tokens are revoked in the background. @throws ServiceError connection_not_found. */
export async function deleteConnection(
  { store, clock, bus, directory }: Pick<AppDeps, 'store' | 'clock' | 'bus' | 'directory'>,
  caller: UserCaller,
  connectionId: ConnectionId
): Promise<void> {
  const { userKey, broker } = await ownedConnection({ directory }, caller, connectionId)
  const entry = audited(clock, caller, 'connection.delete', connectionId, { broker })
  const isRemoved = await lookedUp(
    () => store.connections.remove(connectionId, clock.now(), entry),
    async () => ((await store.connections.find(connectionId)) === null ? true : null)
  )
  if (!isRemoved) {
    throw new ServiceError('connection_not_found', 'The connection was deleted by another request just now.')
  }
  bus.publish({ type: 'connection_removed', userKey, connectionId })
}
