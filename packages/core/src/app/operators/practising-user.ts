// Operators who trade: for users all of whose connections are to the sandbox, so that no order of theirs can reach money.
import type { Connection } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { UserKey } from '../../domain/ids.ts'
import type { UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import { Directory, type Owned } from '../directory.ts'
import type { OperatorCaller } from './access.ts'
import { demandOwned } from './owned-user.ts'

/**
 * The connections and accounts of users who have connections to the sandbox only. A use case that is given this directory finds the account
 * of an order here and nowhere else: so the read that decides where an order goes is the one that was checked, and nothing that happens
 * after another check matters.
 */
export class PractisingUsers extends Directory {
  /** @throws ServiceError user_not_tradable */
  override async of(userKey: UserKey): Promise<Owned> {
    const owned = await super.of(userKey)
    const other = owned.connections.find(({ endpoint }) => endpoint?.environment !== 'sandbox')
    if (other !== undefined) throw notTradable(`This one has a connection to ${nameOf(other)}: use another user`)
    return owned
  }
}

interface PractisingDeps extends Pick<Deps, 'ownership'> {
  readonly store: Pick<Deps['store'], 'platforms' | 'users'>
  readonly directory: PractisingUsers
}

/**
 * The user, for whom the operator acts instead of the platform. What is done with it is audited with the operator's name.
 * @throws ServiceError user_not_found, user_not_tradable; broker_unavailable if another node asks the brokers for this user
 */
export async function practisingUser(
  deps: PractisingDeps,
  { operator, ip, requestId }: OperatorCaller,
  userKey: UserKey
): Promise<UserCaller> {
  const { platforms, users } = deps.store
  const user = await users.findByKey(userKey)
  const platform = user === null ? null : await platforms.find(user.platformId)
  if (user === null || platform === null)
    throw new ServiceError('user_not_found', 'There is no user with this user_key; it may have been deleted.')
  const [enabled, disabled] = await Promise.all([users.enabledOf([userKey]), platforms.disabled()])
  if (!enabled.has(userKey)) throw notTradable('This one is disabled: enable the user first')
  if (disabled.has(platform.platformId)) throw notTradable('The platform of this one is disabled: enable it first')
  await deps.directory.of(userKey)
  demandOwned(deps, userKey)
  return { platform, user, ip, requestId, operator }
}

/** The broker, and where the login was made. */
function nameOf({ broker, endpoint }: Connection): string {
  return `${broker}, which ${endpoint === null ? 'was made before its environment was recorded' : `is ${endpoint.environment}`}`
}

function notTradable(why: string): ServiceError {
  return new ServiceError('user_not_tradable', `Operators trade only for users all of whose connections are to the sandbox. ${why}.`)
}
