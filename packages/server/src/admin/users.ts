import { setUserDisabled as disableUser } from '@trunkline/core/app/operators/disabling'
import { parseUserId } from '@trunkline/core/domain/ids'
import { type AdminDeps, entriesOf, NO_BUS } from './deps.ts'
import { AdminRefused, asRefusal, type NamedUser, type Run } from './operations.ts'
import { platformNamed } from './platforms.ts'

/**
 * Disables a user, deletes all market data tokens and open links, and ends sessions; or enables the user again. Connections stay, and the
 * user's accounts are still mirrored. @throws AdminRefused if the user is unknown.
 */
export async function setUserDisabled(deps: AdminDeps, { platform: wanted, userId }: NamedUser, isDisabled: boolean, run: Run) {
  const { store, clock, bus } = deps
  const { platformId } = await platformNamed(deps, wanted)
  const known = await store.users.find(platformId, parseUserId(userId))
  if (known === null) throw new AdminRefused(`There is no user ${JSON.stringify(userId)} on this platform.`)
  const { userKey } = known.user
  const change = () => disableUser({ store, clock, bus: bus ?? NO_BUS }, userKey, isDisabled, entriesOf(deps, run))
  return { platformId, userId, disabledAt: await asRefusal(change) }
}
