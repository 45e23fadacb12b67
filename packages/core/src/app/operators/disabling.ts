// Shutting a platform or a user out, and letting them in again: on the command line and by the API for operators alike.
import { ServiceError } from '../../domain/errors.ts'
import type { PlatformId, UserKey } from '../../domain/ids.ts'
import type { Timestamp } from '../../domain/timestamp.ts'
import type { BusMessage } from '../../ports/bus.ts'
import { type AuditEntry, CommitUnknown } from '../../ports/store.ts'
import type { Deps } from '../deps.ts'

/** Makes the audit entry of what an operator does, with the operator's name and now. */
export type OperatorEntries = (action: string, target: string, detail?: AuditEntry['detail'], result?: AuditEntry['result']) => AuditEntry

interface DisablingDeps extends Pick<Deps, 'clock'> {
  readonly store: Pick<Deps['store'], 'platforms' | 'users'>
  readonly bus: Pick<Deps['bus'], 'publish'>
}

/**
 * Disables a platform, deletes its users' tokens and open links, and ends all sessions; or enables it again. A repetition does it again, as
 * of now. Returns since when it is disabled.
 * @throws ServiceError platform_not_found
 */
export async function setPlatformDisabled(
  deps: DisablingDeps,
  platformId: PlatformId,
  isDisabled: boolean,
  entryOf: OperatorEntries
): Promise<Timestamp | null> {
  const disabledAt = isDisabled ? deps.clock.now() : null
  const entry = entryOf(isDisabled ? 'platform.disable' : 'platform.enable', platformId)
  const message: BusMessage = isDisabled
    ? { type: 'platform_access_ended', platformId, keyId: null }
    : { type: 'platform_secret_changed', platformId }
  if (!(await announced(deps, message, () => deps.store.platforms.setDisabled(platformId, disabledAt, entry))))
    throw new ServiceError('platform_not_found', 'There is no platform with this platform_id.')
  return disabledAt
}

/**
 * Disables a user, deletes all market data tokens and open links, and ends sessions; or enables the user again. Connections stay, and the
 * user's accounts are still mirrored. A repetition does it again, as of now. Returns since when the user is disabled.
 * @throws ServiceError user_not_found
 */
export async function setUserDisabled(
  deps: DisablingDeps,
  userKey: UserKey,
  isDisabled: boolean,
  entryOf: OperatorEntries
): Promise<Timestamp | null> {
  const disabledAt = isDisabled ? deps.clock.now() : null
  const entry = entryOf(isDisabled ? 'user.disable' : 'user.enable', userKey)
  const message: BusMessage = isDisabled ? { type: 'user_disabled', userKey } : { type: 'user_secret_changed', userKey }
  if (!(await announced(deps, message, () => deps.store.users.setDisabled(userKey, disabledAt, entry))))
    throw new ServiceError('user_not_found', 'There is no user with this user_key; it may have been deleted.')
  return disabledAt
}

/** Also if it is not known whether the change happened: sessions that end for nothing come back. */
async function announced({ bus }: DisablingDeps, message: BusMessage, change: () => Promise<boolean>): Promise<boolean> {
  try {
    const isChanged = await change()
    if (isChanged) bus.publish(message)
    return isChanged
  } catch (cause) {
    if (cause instanceof CommitUnknown) bus.publish(message)
    throw cause
  }
}
