import type { User } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { UserId, UserKey } from '../../domain/ids.ts'
import { audited, type PlatformCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'

/** Creates a user and its secret, which is returned only here. @throws ServiceError user_exists. */
export async function createUser(
  { store, ids, hasher, clock }: Pick<Deps, 'store' | 'ids' | 'hasher' | 'clock'>,
  caller: PlatformCaller,
  userId: UserId
): Promise<{ readonly user: User; readonly userSecret: string }> {
  const userSecret = ids.secret('us_')
  const user: User = { userKey: ids.uuid<UserKey>(), platformId: caller.platform.platformId, userId, createdAt: clock.now() }
  const created = await store.users.create(user, hasher.hash(userSecret), audited(clock, caller, 'user.create', user.userKey))
  if (!created) throw new ServiceError('user_exists', 'A user with this user_id already exists; use it, or choose another user_id.')
  return { user, userSecret }
}
