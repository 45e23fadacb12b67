import type { Account, Transaction } from '../../domain/account.ts'
import type { Read } from '../../domain/freshness.ts'
import { type Day, tradingDay } from '../../domain/timestamp.ts'
import type { TransactionType } from '../../domain/vocabulary.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Page, PageRequest } from '../../ports/store.ts'
import type { UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import { type AccountScope, accountsInScope, demandSomething, type FreshenedDeps, joined } from './freshened.ts'

/** Days before the last day at which a list begins if no first day is given. */
export const DAYS_BACK = 90

/** Filters by day, both ends inclusive, and by type if `types` is given. */
export interface TransactionQuery {
  readonly from: Day
  readonly to: Day
  readonly types: readonly TransactionType[] | null
}

/** The days of a request. Defaults depend on the clock alone, so that equal requests mean the same list. */
export function requestedDays(clock: Clock, from: Day | null, to: Day | null): { readonly from: Day; readonly to: Day } {
  const now = clock.now()
  // Some brokers date by UTC, where it is already tomorrow on an evening in New York.
  const last = to ?? laterDay(tradingDay(now), now.slice(0, 10) as Day)
  const counted = to ?? tradingDay(now)
  const first = from ?? daysBefore(counted, DAYS_BACK)
  return { from: first, to: laterDay(first, last) }
}

/**
 * One page of the accounts' transactions, newest first. A broker without transactions is not called and has none.
 * @throws ServiceError account_not_found, connection_not_found, broker_unavailable, store_unavailable.
 */
export async function listTransactions(
  deps: FreshenedDeps & Pick<Deps, 'store' | 'brokers' | 'clock'>,
  caller: UserCaller,
  scope: AccountScope,
  query: TransactionQuery,
  page: PageRequest
): Promise<Read<{ readonly account: Account; readonly transaction: Transaction }> & Pick<Page<Transaction>, 'next' | 'prev'>> {
  const accounts = await accountsInScope(deps, caller, scope)
  const isUnsupported = ({ broker }: Account) => deps.brokers.get(broker)?.capabilities.transactions === false
  const listed = accounts.filter(account => !isUnsupported(account))
  const connections = await deps.directory.connections(caller.user.userKey)
  const unrefreshed = await deps.mirrors.freshenTransactions(connections, listed, query)
  const freshness = await deps.freshness.of({ accounts, kind: 'transactions', unrefreshed, isLive: () => false, isUnsupported })
  demandSomething({ freshness })
  const accountIds = listed.map(({ accountId }) => accountId)
  const found = await deps.store.accounts.transactions(accountIds, query, page)
  const rows = joined(listed, found.rows).map(({ account, record: transaction }) => ({ account, transaction }))
  return { rows, next: found.next, prev: found.prev, freshness }
}

const FIRST_DAY = '0001-01-01' as Day

function daysBefore(day: Day, days: number): Day {
  const date = Temporal.PlainDate.from(day).subtract({ days })
  return date.year < 1 ? FIRST_DAY : (date.toString() as Day)
}

function laterDay(a: Day, b: Day): Day {
  return a > b ? a : b
}
