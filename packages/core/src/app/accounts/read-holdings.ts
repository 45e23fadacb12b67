import type { Account, Balance, Position } from '../../domain/account.ts'
import type { Read } from '../../domain/freshness.ts'
import type { UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import type { AccountScope } from './freshened.ts'
import { demandSomething, type FreshenedDeps, freshened, joined } from './freshened.ts'

/**
 * The accounts' balances, one per account and currency.
 * @throws ServiceError account_not_found, connection_not_found, broker_unavailable, store_unavailable.
 */
export async function listBalances(
  deps: FreshenedDeps & Pick<Deps, 'store'>,
  caller: UserCaller,
  scope: AccountScope
): Promise<Read<{ readonly account: Account; readonly balance: Balance }>> {
  const read = await freshened(deps, caller, scope, 'balances')
  demandSomething(read)
  const balances = await deps.store.accounts.balances(read.accounts.map(({ accountId }) => accountId))
  const rows = joined(read.accounts, balances).map(({ account, record: balance }) => ({ account, balance }))
  return { rows, freshness: read.freshness }
}

/**
 * The accounts' positions; if `symbols` is given, only those.
 * @throws ServiceError account_not_found, connection_not_found, broker_unavailable, store_unavailable.
 */
export async function listPositions(
  deps: FreshenedDeps & Pick<Deps, 'store'>,
  caller: UserCaller,
  scope: AccountScope,
  symbols: readonly string[] | null
): Promise<Read<{ readonly account: Account; readonly position: Position }>> {
  const read = await freshened(deps, caller, scope, 'positions')
  demandSomething(read)
  const positions = await deps.store.accounts.positions(read.accounts.map(({ accountId }) => accountId))
  const rows = joined(read.accounts, positions)
    .filter(({ record }) => symbols === null || symbols.includes(record.symbol))
    .map(({ account, record: position }) => ({ account, position }))
  return { rows, freshness: read.freshness }
}
