import type { Account } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { Freshness } from '../../domain/freshness.ts'
import type { AccountId, BrokerId, ConnectionId } from '../../domain/ids.ts'
import type { UserCaller } from '../caller.ts'
import type { Directory } from '../directory.ts'
import type { Mirrors } from '../mirror/mirrors.ts'
import type { RecordKind } from '../mirror/refreshes.ts'
import { ownedAccount, ownedConnection } from '../owned.ts'
import type { FreshnessReader } from './freshness-reader.ts'

/** What a read of accounts' records takes. */
export interface FreshenedDeps {
  readonly directory: Directory
  readonly mirrors: Mirrors
  readonly freshness: FreshnessReader
}

/** The accounts of a read, and the freshness of each one's records. */
export interface Freshened {
  readonly accounts: readonly Account[]
  readonly freshness: readonly Freshness[]
}

/**
 * The accounts of the scope, with their records made as fresh as their brokers allow. If a broker does not answer or the store takes no
 * writes, the last known records stay.
 */
export async function freshened(deps: FreshenedDeps, caller: UserCaller, scope: AccountScope, kind: RecordKind): Promise<Freshened> {
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
    'The broker gives no answer just now, or its rate limit leaves no capacity, and nothing was read from it before; try again in a few seconds.',
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

/** Which of the user's accounts a read covers. */
export interface AccountScope {
  readonly accountId?: AccountId
  readonly connectionId?: ConnectionId
  readonly broker?: BrokerId
}

/**
 * The user's accounts within the scope. @throws ServiceError account_not_found or connection_not_found for an id that is not the user's.
 */
export async function accountsInScope(
  { directory }: { readonly directory: Directory },
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

/** Each record with its account, in the order of the records. */
export function joined<Record extends { readonly accountId: AccountId }>(
  accounts: readonly Account[],
  records: readonly Record[]
): readonly { readonly account: Account; readonly record: Record }[] {
  const byId = new Map(accounts.map(account => [account.accountId, account]))
  return records.flatMap(record => {
    const account = byId.get(record.accountId)
    return account === undefined ? [] : [{ account, record }]
  })
}
