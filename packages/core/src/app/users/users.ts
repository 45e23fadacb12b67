import type { User } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { UserId, UserKey } from '../../domain/ids.ts'
import type { Page, PageRequest, UserFilter } from '../../ports/store.ts'
import { CommitUnknown } from '../../ports/store.ts'
import { userName } from '../authenticate.ts'
import { audited, type PlatformCaller } from '../caller.ts'
import type { Removals } from '../connections/removals.ts'
import type { Deps } from '../deps.ts'
import { lookedUp } from '../looked-up.ts'

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

/** The platform's users, paged. */
export function listUsers(
  { store }: Pick<Deps, 'store'>,
  caller: PlatformCaller,
  filter: UserFilter,
  sort: 'createdAt' | 'userId',
  page: PageRequest
): Promise<Page<User>> {
  return store.users.list(caller.platform.platformId, filter, sort, page)
}

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

/**
 * Deletes a user with every connection and record; the brokers' tokens are revoked in the background. Open orders stay at the brokers. The
 * removal first waits a moment for pending answers of brokers, see `Removals`. @throws ServiceError user_not_found.
 */
export async function deleteUser(
  { store, clock, bus, removals }: Pick<Deps, 'store' | 'clock' | 'bus'> & { readonly removals: Removals },
  caller: PlatformCaller,
  userId: UserId
): Promise<void> {
  const known = await store.users.find(caller.platform.platformId, userId)
  if (known === null) throw new ServiceError('user_not_found', 'There is no user with this user_id.')
  const { userKey } = known.user
  // Read before the removal: its users must be notified, even if the response to the removal is lost.
  const connections = await store.connections.listByUser(userKey, null)
  const entry = () => audited(clock, caller, 'user.delete', userKey)
  const removed = await removals.carryOut({ connections, entry }, audit =>
    lookedUp(
      () => store.users.remove(userKey, clock.now(), audit),
      async () => ((await store.users.findByKey(userKey)) === null ? connections.map(({ connectionId }) => connectionId) : null)
    )
  )
  for (const connectionId of removed) bus.publish({ type: 'connection_removed', userKey, connectionId })
  bus.publish({ type: 'user_removed', userKey })
}
