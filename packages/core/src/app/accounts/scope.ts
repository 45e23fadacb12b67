import type { Account } from '../../domain/account.ts'
import type { AccountId, BrokerId, ConnectionId } from '../../domain/ids.ts'
import type { UserCaller } from '../caller.ts'
import { ownedAccount, ownedConnection } from '../connections/owned.ts'
import type { AppDeps } from '../deps.ts'

/** Which of the user's accounts a read covers. */
export interface AccountScope {
  readonly accountId?: AccountId
  readonly connectionId?: ConnectionId
  readonly broker?: BrokerId
}

/** The user's accounts within the scope. @throws ServiceError account_not_found or connection_not_found for an id that is not the user's. */
export async function accountsInScope(
  { directory }: Pick<AppDeps, 'directory'>,
  caller: UserCaller,
  scope: AccountScope
): Promise<readonly Account[]> {
  const accounts = await directory.accounts(caller.user.userKey)
  if (scope.accountId !== undefined) await ownedAccount({ directory }, caller, scope.accountId)
  if (scope.connectionId !== undefined && !accounts.some(account => account.connectionId === scope.connectionId)) {
    // A connection may exist without any account.
    await ownedConnection({ directory }, caller, scope.connectionId)
  }
  return accounts.filter(
    account =>
      (scope.accountId === undefined || account.accountId === scope.accountId) &&
      (scope.connectionId === undefined || account.connectionId === scope.connectionId) &&
      (scope.broker === undefined || account.broker === scope.broker)
  )
}
