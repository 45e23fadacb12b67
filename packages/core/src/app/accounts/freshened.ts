import type { Account } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'
import type { RecordKind } from '../mirror/refreshes.ts'
import { type AccountScope, accountsInScope } from './scope.ts'

/**
 * The accounts of the scope, their records made as fresh as their brokers allow. A broker that does not answer leaves the last known
 * records. @throws ServiceError broker_unavailable only when there is nothing at all to show.
 */
export async function freshened(deps: AppDeps, caller: UserCaller, scope: AccountScope, kind: RecordKind): Promise<readonly Account[]> {
  const accounts = await accountsInScope(deps, caller, scope)
  if (accounts.length === 0) return accounts
  const connections = await deps.directory.connections(caller.user.userKey)
  const unanswered = await deps.mirrors.freshen(connections, accounts, kind)
  if (unanswered.length === accounts.length && !(await anyKnown(deps, accounts, kind))) throw nothingToShow()
  return accounts
}

async function anyKnown(deps: AppDeps, accounts: readonly Account[], kind: RecordKind): Promise<boolean> {
  for (const { accountId } of accounts) {
    if ((await deps.store.accounts.freshness(accountId))[kind] !== null) return true
  }
  return false
}

/** Nothing was ever read from the broker, and it does not answer now. */
export function nothingToShow(): ServiceError {
  return new ServiceError(
    'broker_unavailable',
    'The broker does not answer and nothing was read from it before; try again in a few seconds.',
    {
      retryAfterSeconds: 5
    }
  )
}
