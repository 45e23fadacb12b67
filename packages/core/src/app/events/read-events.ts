import type { User } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { UserId } from '../../domain/ids.ts'
import type { LoggedEvent } from '../../ports/store.ts'
import type { PlatformCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'

/** Part of a user's log. */
export interface Stretch {
  readonly userId: UserId
  /** Wanted is what has a `seq` above it. */
  readonly after: number
  readonly limit: number
}

/** Which events are kept, and the `seq` of the last that was taken; null where `after` is when none was. */
export interface StretchRead {
  readonly oldest: number
  readonly last: number
  readonly taken: number | null
}

/** So many are read at once: other requests are served between two reads. */
const READ_MAX = 100

/**
 * Gives the events of a stretch to `take`, in order, until it says that this was the last it wants. What was resolved by a write before is there.
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
  // The log may have been shortened since its span was read; what is missing then shows in what was found.
  if (first === null) return { oldest: after < last && limit > 0 ? last + 1 : oldest, last, taken: null }
  return { oldest: first > after + 1 ? first : oldest, last: Math.max(last, taken), taken }
}
