import type { User } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { UserId } from '../../domain/ids.ts'
import { CommitUnknown } from '../../ports/store.ts'
import { userName } from '../authenticate.ts'
import { audited, type PlatformCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'

/**
 * Gives the user a new secret. Ends the old one at once, with the user's market data tokens and the sessions that use them, because a
 * client that had the old secret had those too. Connections stay. @throws ServiceError user_not_found.
 */
export async function rotateUserSecret(
  { store, ids, hasher, clock, bus }: Pick<Deps, 'store' | 'ids' | 'hasher' | 'clock' | 'bus'>,
  caller: PlatformCaller,
  userId: UserId
): Promise<{ readonly user: User; readonly userSecret: string }> {
  const known = await store.users.find(caller.platform.platformId, userId)
  const userSecret = ids.secret('us_')
  const entry = audited(clock, caller, 'user.rotate_secret', known?.user.userKey ?? userId)
  if (known === null) throw unknownUser()
  const { user } = known
  const secretHash = hasher.hash(userSecret)
  try {
    if (!(await store.users.replaceSecret(user.userKey, secretHash, entry))) throw unknownUser()
  } catch (cause) {
    // The change may have happened: then nothing opened with the old secret may stay open.
    if (cause instanceof CommitUnknown) bus.publish({ type: 'user_secret_changed', userKey: user.userKey })
    throw cause
  }
  bus.publish({ type: 'user_secret_changed', userKey: user.userKey })
  bus.publish({ type: 'secret_issued', of: 'user', name: userName(user.platformId, user.userId), secretHash })
  return { user, userSecret }
}

function unknownUser(): ServiceError {
  return new ServiceError('user_not_found', 'There is no user with this user_id; create it with POST /users.')
}
