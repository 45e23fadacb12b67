// Reading the records of a connection at its broker now, because an operator wants to know how they are.
import { ServiceError } from '../../domain/errors.ts'
import type { Freshness } from '../../domain/freshness.ts'
import type { ConnectionId } from '../../domain/ids.ts'
import { type FreshenedDeps, freshened } from '../accounts/freshened.ts'
import type { UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import type { RecordKind } from '../mirror/refreshes.ts'
import type { OperatorEntries } from './disabling.ts'
import { demandOwned } from './owned-user.ts'

const READ_AGAIN = ['balances', 'positions', 'orders'] as const satisfies readonly RecordKind[]

interface ReadingDeps extends FreshenedDeps, Pick<Deps, 'ownership'> {
  readonly store: Pick<Deps['store'], 'audit' | 'connections' | 'platforms' | 'users'>
}

/** How current the records of one kind are, of each of the connection's accounts. */
export interface ReadKind {
  readonly kind: RecordKind
  readonly freshness: readonly Freshness[]
}

/**
 * Reads balances, positions and orders of the connection's accounts at the broker, as a platform's read does: what the broker confirmed a
 * moment ago, or is followed without a gap, is not asked for again. It never fails because of the broker: the freshness says what became of
 * it.
 * @throws ServiceError connection_not_found; broker_unavailable if another node asks the brokers for this user
 */
export async function readConnectionAgain(
  deps: ReadingDeps,
  connectionId: ConnectionId,
  entryOf: OperatorEntries
): Promise<readonly ReadKind[]> {
  const { store } = deps
  const connection = await store.connections.find(connectionId)
  const [platform, user] =
    connection === null
      ? [null, null]
      : await Promise.all([store.platforms.find(connection.platformId), store.users.findByKey(connection.userKey)])
  if (connection === null || platform === null || user === null)
    throw new ServiceError('connection_not_found', 'There is no connection with this connection_id; it may have been removed.')
  demandOwned(deps, connection.userKey)
  await store.audit.append(entryOf('connection.read_again', connectionId, { broker: connection.broker }))
  const caller: UserCaller = { platform, user, ip: null, requestId: null }
  const read = async (kind: RecordKind) => ({ kind, freshness: (await freshened(deps, caller, { connectionId }, kind)).freshness })
  return await Promise.all(READ_AGAIN.map(read))
}
