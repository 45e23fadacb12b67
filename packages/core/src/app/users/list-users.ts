import type { User } from '../../domain/account.ts'
import type { Page, PageRequest, UserFilter } from '../../ports/store.ts'
import type { PlatformCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'

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
