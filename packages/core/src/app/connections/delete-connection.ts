import { ServiceError } from '../../domain/errors.ts'
import type { ConnectionId } from '../../domain/ids.ts'
import { audited, type UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import type { Directory } from '../directory.ts'
import { lookedUp } from '../looked-up.ts'
import { ownedConnection } from '../owned.ts'
import type { Removals } from './removals.ts'

/**
 * Removes the connection and its records; its broker tokens are revoked in the background. Open orders stay at the broker. The removal
 * first waits a moment for pending answers of the broker, see `Removals`. @throws ServiceError connection_not_found.
 */
export async function deleteConnection(
  {
    store,
    clock,
    bus,
    directory,
    removals
  }: Pick<Deps, 'store' | 'clock' | 'bus'> & { readonly directory: Directory; readonly removals: Removals },
  caller: UserCaller,
  connectionId: ConnectionId
): Promise<void> {
  const connection = await ownedConnection({ directory }, caller, connectionId)
  const { userKey, broker } = connection
  const entry = () => audited(clock, caller, 'connection.delete', connectionId, { broker })
  const isRemoved = await removals.carryOut({ connections: [connection], entry }, audit =>
    lookedUp(
      () => store.connections.remove(connectionId, clock.now(), audit),
      async () => ((await store.connections.find(connectionId)) === null ? true : null)
    )
  )
  if (!isRemoved) {
    throw new ServiceError('connection_not_found', 'The connection was deleted by another request just now.')
  }
  bus.publish({ type: 'connection_removed', userKey, connectionId })
}
