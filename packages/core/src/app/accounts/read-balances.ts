import type { Account, Balance } from '../../domain/account.ts'
import type { Read } from '../../domain/freshness.ts'
import type { UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'
import { demandSomething, freshened } from './freshened.ts'
import { joined } from './joined.ts'
import type { AccountScope } from './scope.ts'

/**
 * The accounts' balances, one per account and currency.
 * @throws ServiceError account_not_found, connection_not_found, broker_unavailable, store_unavailable.
 */
export async function listBalances(
  deps: AppDeps,
  caller: UserCaller,
  scope: AccountScope
): Promise<Read<{ readonly account: Account; readonly balance: Balance }>> {
  const read = await freshened(deps, caller, scope, 'balances')
  demandSomething(read)
  const balances = await deps.store.accounts.balances(read.accounts.map(({ accountId }) => accountId))
  const rows = joined(read.accounts, balances).map(({ account, record: balance }) => ({ account, balance }))
  return { rows, freshness: read.freshness }
}
