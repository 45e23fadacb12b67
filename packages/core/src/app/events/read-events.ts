import type { User } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { UserId } from '../../domain/ids.ts'
import type { LoggedEvent } from '../../ports/store.ts'
import type { PlatformCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'

/** A range of a user's log. */
export interface Stretch {
  readonly userId: UserId
  /** Events with a `seq` above this are wanted. */
  readonly after: number
  readonly limit: number
}

/** The range of stored events, and the `seq` of the last one taken; null, where `after` is, if none was. */
export interface StretchRead {
  readonly oldest: number
  readonly last: number
  readonly taken: number | null
}

/** Most events read at once; other requests are served between two reads. */
const READ_MAX = 100

/**
 * Passes the events of a range to `take`, in order, until it returns that it wants no more. Includes the events of every write that
 * resolved before.
 * @throws ServiceError user_not_found
 */
export async function readEvents(
  { store }: Pick<Deps, 'store'>,
  caller: PlatformCaller,
  { userId, after, limit }: Stretch,
  take: (event: LoggedEvent, user: User) => boolean
): Promise<StretchRead> {
  const known = await store.users.find(caller.platform.platformId, userId)
  if (known === null) throw new ServiceError('user_not_found', 'There is no user with this user_id; create it with POST /users.')
  const { userKey } = known.user
  const { oldest, last } = await store.events.span(userKey)
  let first: number | null = null
  let taken = after
  for (let [left, wanted] = [limit, true]; wanted && left > 0 && taken < last; ) {
    const events = await store.events.read(userKey, taken, Math.min(left, READ_MAX))
    if (events.length === 0) break
    for (const event of events) {
      if (!wanted) break
      wanted = take(event, known.user)
      first ??= event.seq
      taken = event.seq
      left -= 1
    }
  }
  // The log may have been pruned since its range was read; the events found then show what is missing.
  if (first === null) return { oldest: after < last && limit > 0 ? last + 1 : oldest, last, taken: null }
  return { oldest: first > after + 1 ? first : oldest, last: Math.max(last, taken), taken }
}
