import type { Account, Position } from '../../domain/account.ts'
import type { UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'
import { freshened } from './freshened.ts'
import { joined } from './joined.ts'
import type { AccountScope } from './scope.ts'

/** The accounts' positions, of `symbols` only when given. @throws ServiceError account_not_found, connection_not_found, broker_unavailable. */
export async function listPositions(
  deps: AppDeps,
  caller: UserCaller,
  scope: AccountScope,
  symbols: readonly string[] | null
): Promise<readonly { readonly account: Account; readonly position: Position }[]> {
  const accounts = await freshened(deps, caller, scope, 'positions')
  const positions = await deps.store.accounts.positions(accounts.map(({ accountId }) => accountId))
  return joined(accounts, positions)
    .filter(({ record }) => symbols === null || symbols.includes(record.symbol))
    .map(({ account, record: position }) => ({ account, position }))
}
