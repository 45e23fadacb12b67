import type { Account } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { Freshness } from '../../domain/freshness.ts'
import type { UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'
import type { RecordKind } from '../mirror/refreshes.ts'
import { type AccountScope, accountsInScope } from './scope.ts'

/** The accounts of a read, and how fresh the records of each are. */
export interface Freshened {
  readonly accounts: readonly Account[]
  readonly freshness: readonly Freshness[]
}

/**
 * The accounts of the scope, their records made as fresh as their brokers allow. A broker that does not answer, and a store that takes no
 * writes, leave the last known records.
 */
export async function freshened(deps: AppDeps, caller: UserCaller, scope: AccountScope, kind: RecordKind): Promise<Freshened> {
  const accounts = await accountsInScope(deps, caller, scope)
  if (accounts.length === 0) return { accounts, freshness: [] }
  const connections = await deps.directory.connections(caller.user.userKey)
  const unrefreshed = await deps.mirrors.freshen(connections, accounts, kind)
  const isLive = ({ connectionId }: Account) => deps.mirrors.isLive(connectionId)
  return { accounts, freshness: await deps.freshness.of({ accounts, kind, unrefreshed, isLive, isUnsupported: () => false }) }
}

/**
 * To be asked where there is nothing to show.
 * @throws ServiceError broker_unavailable when nothing was ever read of any account, and every broker was asked and did not answer;
 * store_unavailable where one did, and its answer could not be stored.
 */
export function demandSomething({ freshness }: Pick<Freshened, 'freshness'>): void {
  if (freshness.length === 0 || !freshness.every(isMissing)) return
  throw freshness.some(({ reason }) => reason === 'not_stored') ? nothingStored() : nothingToShow()
}

/** Nothing was ever read, for a reason that passes. */
function isMissing({ state, reason }: Freshness): boolean {
  return state === 'unavailable' && reason !== 'connection_broken'
}

function nothingToShow(): ServiceError {
  return new ServiceError(
    'broker_unavailable',
    'The broker does not answer and nothing was read from it before; try again in a few seconds.',
    {
      retryAfterSeconds: 5
    }
  )
}

function nothingStored(): ServiceError {
  return new ServiceError(
    'store_unavailable',
    'The service cannot store what the broker answers just now, and nothing was stored before; try again in a few seconds.',
    { retryAfterSeconds: 5 }
  )
}
