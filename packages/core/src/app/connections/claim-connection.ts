import { ServiceError } from '../../domain/errors.ts'
import type { ConnectionId } from '../../domain/ids.ts'
import { changedMessage, endpointOf, isSameEndpoint } from '../broker-access/endpoints.ts'
import { audited, type UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import type { Directory } from '../directory.ts'
import type { Mirrors } from '../mirror/mirrors.ts'
import { type ConnectionWithAccounts, listConnections } from './list-connections.ts'

interface ClaimDeps extends Pick<Deps, 'store' | 'clock' | 'bus' | 'hasher' | 'brokers'> {
  readonly directory: Directory
  readonly mirrors: Mirrors
}

/**
 * Claims a connection: the platform confirms that this user made the login. A user who completes a link made for another user has no
 * session of that user at the platform, so their account never becomes the other user's.
 * @throws ServiceError connection_not_found, connection_claimed, claim_refused
 */
export async function claimConnection(
  deps: ClaimDeps,
  caller: UserCaller,
  connectionId: ConnectionId,
  code: string
): Promise<ConnectionWithAccounts> {
  const { store, clock, bus, hasher } = deps
  const { userKey } = caller.user
  await demandEndpoint(deps, caller, connectionId)
  const audit = audited(clock, caller, 'connection.claim', connectionId)
  const outcome = await store.connections.claim(connectionId, userKey, { codeHash: hasher.hash(code), at: clock.now(), audit })
  if (outcome === 'claimed') {
    bus.publish({ type: 'connection_changed', userKey, connectionId })
    const made = (await listConnections(deps, caller, null)).find(({ connection }) => connection.connectionId === connectionId)
    if (made !== undefined) return made
  }
  if (outcome === 'refused')
    throw new ServiceError(
      'claim_refused',
      'The claim_code is not that of this connection, or more than ten minutes have passed. Send the claim_code that came with the redirect, once; otherwise have the user connect again.'
    )
  if ((await store.connections.find(connectionId))?.userKey === userKey)
    throw new ServiceError('connection_claimed', 'The connection is already claimed; read it with GET /connections.')
  throw new ServiceError(
    'connection_not_found',
    'This user has no connection with this connection_id that can be claimed. If the redirect arrived in another user’s session, somebody else completed that user’s link: do nothing, and it is revoked.'
  )
}

/** A login made at another endpoint than the present one is not claimed: only a restart would suspend it. */
async function demandEndpoint({ store, brokers }: ClaimDeps, { user }: UserCaller, connectionId: ConnectionId): Promise<void> {
  const waiting = await store.connections.findUnclaimed(connectionId)
  const definition = waiting?.userKey === user.userKey ? brokers.get(waiting.broker) : undefined
  if (waiting === null || definition === undefined) return
  const present = endpointOf(definition)
  if (waiting.endpoint !== null && isSameEndpoint(waiting.endpoint, present)) return
  throw new ServiceError('claim_refused', changedMessage(waiting.endpoint, present))
}
