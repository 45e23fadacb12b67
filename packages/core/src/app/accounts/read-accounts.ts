import type { Account } from '../../domain/account.ts'
import type { UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'
import { type AccountScope, accountsInScope } from './scope.ts'

/** The user's accounts. @throws ServiceError account_not_found, connection_not_found. */
export function listAccounts(deps: Pick<AppDeps, 'directory'>, caller: UserCaller, scope: AccountScope): Promise<readonly Account[]> {
  return accountsInScope(deps, caller, scope)
}
