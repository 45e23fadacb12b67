import type { Account } from '../../domain/account.ts'
import type { AccountId } from '../../domain/ids.ts'

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
