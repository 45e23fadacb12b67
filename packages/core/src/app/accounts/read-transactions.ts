import type { Account, Connection, Transaction } from '../../domain/account.ts'
import { type Day, isWithin, tradingDay } from '../../domain/timestamp.ts'
import type { AccountFreshness } from '../../ports/store.ts'
import type { UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'
import { limited } from '../limited.ts'
import { within } from '../within.ts'
import { nothingToShow } from './freshened.ts'
import { joined } from './joined.ts'
import { type AccountScope, accountsInScope } from './scope.ts'

/** How far back transactions are read when the request names no first day. */
const DAYS_BACK = 90

/** The accounts' transactions of the inclusive days, newest first. @throws ServiceError account_not_found, connection_not_found, broker_unavailable. */
export async function listTransactions(
  deps: AppDeps,
  caller: UserCaller,
  scope: AccountScope,
  from: Day | null,
  to: Day | null
): Promise<readonly { readonly account: Account; readonly transaction: Transaction }[]> {
  const accounts = await accountsInScope(deps, caller, scope)
  const connections = await deps.directory.connections(caller.user.userKey)
  const byId = new Map(connections.map(connection => [connection.connectionId, connection]))
  const days = span(tradingDay(deps.clock.now()), from, to)
  const read = await Promise.all(
    accounts.map(account => {
      const connection = byId.get(account.connectionId)
      return connection === undefined ? null : refreshed(deps, connection, account, days)
    })
  )
  if (accounts.length > 0 && read.every(freshness => freshness === null || freshness.transactions === null)) throw nothingToShow()
  const transactions = await deps.store.accounts.transactions(
    accounts.map(({ accountId }) => accountId),
    from,
    to
  )
  return joined(accounts, transactions).map(({ account, record: transaction }) => ({ account, transaction }))
}

function span(today: Day, from: Day | null, to: Day | null): { readonly from: Day; readonly to: Day } {
  const last = to ?? today
  const first = from ?? (Temporal.PlainDate.from(last).subtract({ days: DAYS_BACK }).toString() as Day)
  return { from: first < last ? first : last, to: last }
}

/** Reads the days from the broker unless that was done just now; gives what was read before this call or by it. */
async function refreshed(
  deps: AppDeps,
  connection: Connection,
  account: Account,
  days: { readonly from: Day; readonly to: Day }
): Promise<AccountFreshness> {
  const before = await deps.store.accounts.freshness(account.accountId)
  if (connection.status !== 'ACTIVE' || covers(deps, before, days)) return before
  const reading = deps.mirrors.once(`transactions ${account.accountId} ${days.from} ${days.to}`, () =>
    limited(deps.clock, deps.timing.commandMs, async signal =>
      deps.mirrors.records.refreshTransactions(deps.mirrors.session(connection), account, days, signal)
    )
  )
  try {
    await within(deps.clock, reading, deps.timing.readMs)
  } catch (cause) {
    await deps.mirrors.failed(connection, cause)
    return before
  }
  return deps.store.accounts.freshness(account.accountId)
}

function covers(deps: AppDeps, { transactions }: AccountFreshness, days: { readonly from: Day; readonly to: Day }): boolean {
  if (transactions === null || transactions.from > days.from || transactions.to < days.to) return false
  return isWithin(transactions.at, deps.clock.now(), deps.timing.freshMs)
}
