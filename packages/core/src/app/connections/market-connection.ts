import type { Connection } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { ConnectionId } from '../../domain/ids.ts'
import type { UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import type { Directory } from '../directory.ts'
import { ownedConnection } from '../owned.ts'

/**
 * The caller's own connection, for market data.
 * @throws ServiceError connection_not_found, or entitlement_missing if the connection is BROKEN or its broker has no market data.
 */
export async function marketConnection(
  { directory, brokers }: Pick<Deps, 'brokers'> & { readonly directory: Directory },
  caller: UserCaller,
  connectionId: ConnectionId
): Promise<Connection> {
  const connection = await ownedConnection({ directory }, caller, connectionId)
  if (connection.status !== 'ACTIVE') {
    throw new ServiceError(
      'entitlement_missing',
      'The connection is BROKEN and gives no market data; have the user connect this broker again.'
    )
  }
  if ((brokers.get(connection.broker)?.capabilities.marketData.channels.length ?? 0) === 0) {
    throw new ServiceError('entitlement_missing', `${connection.broker} offers no market data; see GET /brokers for those that do.`)
  }
  return connection
}
