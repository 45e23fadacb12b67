/** Whose accounts are meant: lists of account numbers, some of which may not belong to the login. */

import { type Account, Problem } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'

const ACCOUNTS_MAX = 25

/** TradeStation has no accounts for crypto. */
export function accountsHere(customers: BrokerageView['customers'], login: string): readonly Account[] {
  return customers.accountsOf(login).filter(({ kind }) => kind !== 'coin')
}

export interface RequestedAccounts {
  readonly accounts: readonly Account[]
  /** One for each number that is not theirs. */
  readonly errors: readonly { readonly AccountID: string; readonly Error: string; readonly Message: string }[]
}

/** @throws Problem `bad_request` */
export function requestedAccounts(customers: BrokerageView['customers'], login: string, list: string): RequestedAccounts {
  const numbers = [...new Set(list.split(',').filter(number => number !== ''))]
  if (numbers.length === 0 || numbers.length > ACCOUNTS_MAX)
    throw new Problem('bad_request', `1 to ${ACCOUNTS_MAX} Account IDs can be specified, comma separated`)
  const own = accountsHere(customers, login)
  const found = numbers.map(number => own.find(account => account.number === number) ?? number)
  return {
    accounts: found.filter(account => typeof account === 'object'),
    errors: found
      .filter(account => typeof account === 'string')
      .map(number => ({ AccountID: number.slice(0, 40), Error: 'Forbidden', Message: 'Request not supported for account' }))
  }
}

/** The login's account of a number; undefined: not theirs. */
export function accountOf(customers: BrokerageView['customers'], login: string, number: string): Account | undefined {
  return accountsHere(customers, login).find(account => account.number === number)
}
