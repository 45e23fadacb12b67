import type { Account, Balance } from '../../domain/account.ts'
import type { UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'
import { freshened } from './freshened.ts'
import { joined } from './joined.ts'
import type { AccountScope } from './scope.ts'

/** The accounts' balances, one per account and currency. @throws ServiceError account_not_found, connection_not_found, broker_unavailable. */
export async function listBalances(
  deps: AppDeps,
  caller: UserCaller,
  scope: AccountScope
): Promise<readonly { readonly account: Account; readonly balance: Balance }[]> {
  const accounts = await freshened(deps, caller, scope, 'balances')
  const balances = await deps.store.accounts.balances(accounts.map(({ accountId }) => accountId))
  return joined(accounts, balances).map(({ account, record: balance }) => ({ account, balance }))
}
