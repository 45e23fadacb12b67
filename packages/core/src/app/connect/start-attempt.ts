import type { ConnectionAttempt } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { AttemptId, BrokerId, ConnectionId } from '../../domain/ids.ts'
import { earlier, epochMs, type Timestamp, timestampOfMs } from '../../domain/timestamp.ts'
import type { ConnectionType } from '../../domain/vocabulary.ts'
import { credentialsInvalid } from '../authenticate.ts'
import { changedMessage, endpointOf, isSameEndpoint } from '../broker-access/endpoints.ts'
import { audited, type UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import { offeredBroker } from '../offered-broker.ts'
import { connectionNotFound } from '../owned.ts'
import { checkRedirectUrl } from './redirect-url.ts'

/** Life of a portal link at most. */
export const ATTEMPT_MINUTES = 30

export interface AttemptRequest {
  /** Null, in a renewal only: the type of the connection. */
  readonly connectionType: ConnectionType | null
  /** Null: the user chooses. */
  readonly broker: BrokerId | null
  /** The connection whose login is to be renewed; null or absent: a new connection is made. */
  readonly renewConnectionId?: ConnectionId | null
  readonly redirectUrl: string | null
  readonly redirectOnErrorUrl: string | null
}

/**
 * Stores an attempt and returns the secret of its portal link, which works once. @throws ServiceError field_invalid, credentials_invalid,
 * connection_not_found, connection_broken.
 */
export async function startAttempt(
  { store, ids, hasher, clock, brokers }: Pick<Deps, 'store' | 'ids' | 'hasher' | 'clock' | 'brokers'>,
  caller: UserCaller,
  request: AttemptRequest
): Promise<{ readonly token: string; readonly expiresAt: Timestamp }> {
  const { redirectUrl, redirectOnErrorUrl, renewConnectionId = null } = request
  const { redirectAllowList } = caller.platform
  if (redirectUrl !== null) checkRedirectUrl(redirectUrl, redirectAllowList, 'redirect_url')
  if (redirectOnErrorUrl !== null) checkRedirectUrl(redirectOnErrorUrl, redirectAllowList, 'redirect_on_error_url')
  if (caller.platform.claims && redirectUrl === null && renewConnectionId === null) {
    const message = 'must be given: this platform claims its connections, with the code that comes with the redirect'
    throw new ServiceError('field_invalid', `redirect_url ${message}.`, { details: [{ path: 'redirect_url', message }] })
  }
  const aim =
    renewConnectionId === null ? newAim(brokers, request) : await renewalAim({ store, brokers }, caller, renewConnectionId, request)
  const token = ids.secret('')
  const createdAt = clock.now()
  const lifeEnds = timestampOfMs(epochMs(createdAt) + ATTEMPT_MINUTES * 60_000)
  const expiresAt = earlier(lifeEnds, caller.keyProof?.endsAt ?? null) ?? lifeEnds
  const attempt: ConnectionAttempt = {
    attemptId: ids.uuid<AttemptId>(),
    platformId: caller.platform.platformId,
    userKey: caller.user.userKey,
    keyId: caller.key?.keyId ?? null,
    ...{ ...aim, renewConnectionId, redirectUrl, redirectOnErrorUrl, createdAt, expiresAt },
    chosenBroker: null,
    status: 'open',
    browserHash: null,
    stateHash: null
  }
  const audit = audited(clock, caller, 'connection.attempt', attempt.attemptId, {
    ...aim,
    ...(renewConnectionId === null ? {} : { renew: renewConnectionId })
  })
  // Disabled since this request was authenticated.
  if (!(await store.attempts.create(attempt, hasher.hash(token), audit))) throw credentialsInvalid()
  return { token, expiresAt }
}

type Aim = Pick<ConnectionAttempt, 'connectionType' | 'broker'>

function newAim(brokers: Deps['brokers'], { connectionType, broker }: AttemptRequest): Aim {
  if (connectionType === null) throw fieldInvalid('connection_type', 'is required: readonly, trade or market_data')
  if (broker !== null) demandChannels(connectionType, offeredBroker({ brokers }, broker).capabilities)
  return { connectionType, broker }
}

/** A renewal changes only the login of the connection: the other fields must repeat its values or be left out. */
async function renewalAim(
  { store, brokers }: Pick<Deps, 'store' | 'brokers'>,
  caller: UserCaller,
  connectionId: ConnectionId,
  request: AttemptRequest
): Promise<Aim> {
  if (request.broker !== null) offeredBroker({ brokers }, request.broker)
  const connection = await store.connections.find(connectionId)
  if (connection?.userKey !== caller.user.userKey) throw connectionNotFound()
  const { connectionType, broker, endpoint } = connection
  if (request.broker !== null && request.broker !== broker) throw unlike('broker', broker, request.broker)
  if (request.connectionType !== null && request.connectionType !== connectionType)
    throw unlike('connection_type', connectionType, request.connectionType)
  const present = endpointOf(offeredBroker({ brokers }, broker))
  if (endpoint === null || !isSameEndpoint(endpoint, present))
    throw new ServiceError('connection_broken', `It cannot be renewed elsewhere. ${changedMessage(endpoint, present)}`)
  return { connectionType, broker }
}

function unlike(field: string, has: string, requested: string): ServiceError {
  return fieldInvalid(field, `must be left out or ${has}, as that of the connection to renew, was ${requested}`)
}

function fieldInvalid(path: string, message: string): ServiceError {
  return new ServiceError('field_invalid', `${path} ${message}.`, { details: [{ path, message }] })
}

function demandChannels(
  connectionType: ConnectionType,
  { name, marketData }: { readonly name: string; readonly marketData: { readonly channels: readonly string[] } }
): void {
  if (connectionType !== 'market_data' || marketData.channels.length > 0) return
  const message = `market_data is not offered by ${name}; see GET /brokers for those that have market data`
  throw new ServiceError('field_invalid', `connection_type: ${message}.`, { details: [{ path: 'connection_type', message }] })
}
