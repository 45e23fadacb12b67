import { parseUserId } from '@trunkline/core/domain/ids'
import { type AdminDeps, operatorEntry } from './deps.ts'
import { AdminRefused, type NamedUser, type Run } from './operations.ts'
import { platformNamed } from './platforms.ts'

/**
 * Disables a user, deletes all market data tokens and open links, and ends sessions; or enables the user again. Connections stay, and the
 * user's accounts are still mirrored. @throws AdminRefused if the user is unknown.
 */
export async function setUserDisabled(deps: AdminDeps, { platform: wanted, userId }: NamedUser, isDisabled: boolean, run: Run) {
  const platform = await platformNamed(deps, wanted)
  const known = await deps.store.users.find(platform.platformId, parseUserId(userId))
  const now = deps.clock.now()
  const disabledAt = isDisabled ? now : null
  const entry = operatorEntry(now, run, isDisabled ? 'user.disable' : 'user.enable', known?.user.userKey ?? userId)
  if (known === null || !(await deps.store.users.setDisabled(known.user.userKey, disabledAt, entry)))
    throw new AdminRefused(`There is no user ${JSON.stringify(userId)} on this platform.`)
  const { userKey } = known.user
  deps.bus?.publish(isDisabled ? { type: 'user_disabled', userKey } : { type: 'user_secret_changed', userKey })
  return { platformId: platform.platformId, userId, disabledAt }
}
