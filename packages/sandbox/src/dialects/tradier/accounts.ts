/** Who the customer is and which accounts it has: profile and balances. */

import { paramOf } from '../../brokerage/api/orders.ts'
import { isoOf } from '../../brokerage/clock.ts'
import type { Account, Customer } from '../../brokerage/customers.ts'
import type { DialectBrokerage } from '../../brokerage/dialect.ts'
import { Problem } from '../../brokerage/problems.ts'
import type { Call } from '../frame/router.ts'
import { balancesTree } from './balances.ts'
import type { Branch } from './tree.ts'

/** Accounts of other kinds are not Tradier's to keep. */
const ACCOUNT_KINDS: ReadonlySet<string> = new Set(['margin', 'cash'])
const OPTION_LEVEL = { margin: 6, cash: 2 } as const

export class Accounts {
  readonly #brokerage: Pick<DialectBrokerage, 'customers' | 'state'>

  constructor(brokerage: Pick<DialectBrokerage, 'customers' | 'state'>) {
    this.#brokerage = brokerage
  }

  of(login: string): readonly Account[] {
    return this.#brokerage.customers.accountsOf(login).filter(({ kind }) => ACCOUNT_KINDS.has(kind))
  }

  /** The account of a path. @throws Problem */
  requested({ request, customer }: Pick<Call, 'request' | 'customer'>): Account {
    const number = paramOf(request, 'account')
    const found = this.of(customer.id).find(account => numberOf(account) === number)
    if (found === undefined) throw new Problem('unknown_account', `Unauthorized Account: ${number.slice(0, 40)}`, { status: 401 })
    return found
  }

  /** Tradier's number of an account that it keeps. */
  numberOf(accountId: string): string | null {
    const account = this.#brokerage.customers.account(accountId)
    return account === undefined || !ACCOUNT_KINDS.has(account.kind) ? null : numberOf(account)
  }

  profile(customer: Customer): Branch {
    const accounts = this.of(customer.id).map(account => {
      const opened = isoOf(this.#brokerage.state.engine.account(account.id)?.openedAt ?? 0)
      const date = `${opened.slice(0, 23)}Z`
      return {
        account_number: numberOf(account),
        classification: 'individual',
        date_created: date,
        day_trader: false,
        option_level: account.kind === 'margin' ? OPTION_LEVEL.margin : OPTION_LEVEL.cash,
        status: 'active',
        type: account.kind,
        last_update_date: date
      }
    })
    return { profile: { id: `id-${customer.username}`, name: customer.name, account: accounts } }
  }

  balances(account: Account): Branch {
    const { engine } = this.#brokerage.state
    return balancesTree({
      number: numberOf(account),
      kind: account.kind,
      balance: engine.balance(account.id),
      positions: engine.positions(account.id),
      openOrders: engine.orders(account.id, { live: true }).length
    })
  }
}

/** Practice accounts begin with VA at Tradier. */
export function numberOf({ number }: Account): string {
  return number.replace(/^SB/, 'VA')
}
