import type { Account } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { Freshness } from '../../domain/freshness.ts'
import type { UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'
import type { RecordKind } from '../mirror/refreshes.ts'
import { type AccountScope, accountsInScope } from './scope.ts'

/** The accounts of a read, and the freshness of each one's records. */
export interface Freshened {
  readonly accounts: readonly Account[]
  readonly freshness: readonly Freshness[]
}

/**
 * The accounts of the scope, with their records made as fresh as their brokers allow. If a broker does not answer or the store takes no
 * writes, the last known records stay.
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
 * Called when a read has no records to return.
 * @throws ServiceError broker_unavailable if no account was ever read and no broker answered; store_unavailable if one answered and its
 * answer could not be stored.
 */
export function demandSomething({ freshness }: Pick<Freshened, 'freshness'>): void {
  if (freshness.length === 0 || !freshness.every(isMissing)) return
  throw freshness.some(({ reason }) => reason === 'not_stored') ? nothingStored() : nothingToShow()
}

/** Whether nothing was ever read, for a temporary reason. */
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
