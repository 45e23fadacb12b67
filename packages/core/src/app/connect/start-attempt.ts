import type { ConnectionAttempt } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { AttemptId, BrokerId } from '../../domain/ids.ts'
import { epochMs, type Timestamp, timestampOfMs } from '../../domain/timestamp.ts'
import type { ConnectionType } from '../../domain/vocabulary.ts'
import { audited, type UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import { offeredBroker } from './offered-broker.ts'
import { checkRedirectUrl } from './redirect-url.ts'

/** Lifetime of a portal link. */
export const ATTEMPT_MINUTES = 30

export interface AttemptRequest {
  readonly connectionType: ConnectionType
  /** Null: the user picks one. */
  readonly broker: BrokerId | null
  readonly redirectUrl: string | null
  readonly redirectOnErrorUrl: string | null
}

/** Stores an attempt and gives the secret of its portal link, single-use and unguessable. @throws ServiceError field_invalid. */
export async function startAttempt(
  { store, ids, hasher, clock, brokers }: Pick<Deps, 'store' | 'ids' | 'hasher' | 'clock' | 'brokers'>,
  caller: UserCaller,
  request: AttemptRequest
): Promise<{ readonly token: string; readonly expiresAt: Timestamp }> {
  const { connectionType, broker, redirectUrl, redirectOnErrorUrl } = request
  if (broker !== null) demandChannels(connectionType, offeredBroker({ brokers }, broker).capabilities)
  const { redirectAllowList } = caller.platform
  if (redirectUrl !== null) checkRedirectUrl(redirectUrl, redirectAllowList, 'redirect_url')
  if (redirectOnErrorUrl !== null) checkRedirectUrl(redirectOnErrorUrl, redirectAllowList, 'redirect_on_error_url')
  if (caller.platform.claims && redirectUrl === null) {
    const message = 'must be given: this platform claims its connections, with the code that comes with the redirect'
    throw new ServiceError('field_invalid', `redirect_url ${message}.`, { details: [{ path: 'redirect_url', message }] })
  }
  const token = ids.secret('')
  const createdAt = clock.now()
  const expiresAt = timestampOfMs(epochMs(createdAt) + ATTEMPT_MINUTES * 60_000)
  const attempt: ConnectionAttempt = {
    attemptId: ids.uuid<AttemptId>(),
    platformId: caller.platform.platformId,
    userKey: caller.user.userKey,
    ...{ connectionType, broker, redirectUrl, redirectOnErrorUrl, createdAt, expiresAt },
    chosenBroker: null,
    status: 'open',
    browserHash: null,
    stateHash: null
  }
  await store.attempts.create(
    attempt,
    hasher.hash(token),
    audited(clock, caller, 'connection.attempt', attempt.attemptId, { broker, connectionType })
  )
  return { token, expiresAt }
}

function demandChannels(
  connectionType: ConnectionType,
  { name, marketData }: { readonly name: string; readonly marketData: { readonly channels: readonly string[] } }
): void {
  if (connectionType !== 'market_data' || marketData.channels.length > 0) return
  const message = `market_data is not offered by ${name}; see GET /brokers for those that have market data`
  throw new ServiceError('field_invalid', `connection_type: ${message}.`, { details: [{ path: 'connection_type', message }] })
}
