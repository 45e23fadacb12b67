import type { User } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { UserId } from '../../domain/ids.ts'
import { audited, type PlatformCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'

/** Gives the user a new secret and ends the old one at once. Connections and market data tokens stay. @throws ServiceError user_not_found. */
export async function rotateUserSecret(
  { store, ids, hasher, clock, bus }: Pick<Deps, 'store' | 'ids' | 'hasher' | 'clock' | 'bus'>,
  caller: PlatformCaller,
  userId: UserId
): Promise<{ readonly user: User; readonly userSecret: string }> {
  const known = await store.users.find(caller.platform.platformId, userId)
  const userSecret = ids.secret('us_')
  const entry = audited(clock, caller, 'user.rotate_secret', known?.user.userKey ?? userId)
  if (known === null || !(await store.users.replaceSecret(known.user.userKey, hasher.hash(userSecret), entry))) {
    throw new ServiceError('user_not_found', 'There is no user with this user_id; create it with POST /users.')
  }
  bus.publish({ type: 'user_secret_changed', userKey: known.user.userKey })
  return { user: known.user, userSecret }
}
