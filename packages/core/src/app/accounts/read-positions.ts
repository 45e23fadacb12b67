import type { Account, Position } from '../../domain/account.ts'
import type { Read } from '../../domain/freshness.ts'
import type { UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'
import { demandSomething, freshened } from './freshened.ts'
import { joined } from './joined.ts'
import type { AccountScope } from './scope.ts'

/**
 * The accounts' positions; if `symbols` is given, only those.
 * @throws ServiceError account_not_found, connection_not_found, broker_unavailable, store_unavailable.
 */
export async function listPositions(
  deps: AppDeps,
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
