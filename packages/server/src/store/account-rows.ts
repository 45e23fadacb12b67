// Rows of accounts.
import type { Account } from '@trunkline/core/domain/account'
import type { Selectable } from 'kysely'
import type { Database } from './database.ts'
import { storable } from './types.ts'

/** `place`: its position among the accounts of its connection. */
export function accountRowOf(account: Account, place: number): Selectable<Database['accounts']> {
  return {
    account_id: account.accountId,
    connection_id: account.connectionId,
    user_key: account.userKey,
    place,
    account_number: storable(account.accountNumber),
    broker_account_id: storable(account.brokerAccountId),
    institution_name: storable(account.institutionName),
    broker: account.broker,
    name: account.name === null ? null : storable(account.name),
    account_type: account.accountType === null ? null : storable(account.accountType),
    currency: account.currency === null ? null : storable(account.currency)
  }
}
