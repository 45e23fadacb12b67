/** Who the customer is and which accounts it has: profile and balances. */

import { paramOf } from '../../house/api/orders.ts'
import { isoOf } from '../../house/clock.ts'
import type { DialectHouse } from '../../house/dialect.ts'
import type { Account, Person } from '../../house/people.ts'
import { Problem } from '../../house/problems.ts'
import type { Call } from '../frame/router.ts'
import { balancesTree } from './balances.ts'
import type { Branch } from './tree.ts'

/** Accounts of other kinds are not Tradier's to keep. */
const KINDS: ReadonlySet<string> = new Set(['margin', 'cash'])
const OPTION_LEVEL = { margin: 6, cash: 2 } as const

export class Accounts {
  readonly #house: Pick<DialectHouse, 'people' | 'books'>

  constructor(house: Pick<DialectHouse, 'people' | 'books'>) {
    this.#house = house
  }

  of(login: string): readonly Account[] {
    return this.#house.people.accountsOf(login).filter(({ kind }) => KINDS.has(kind))
  }

  /** The account of a path. @throws Problem */
  asked({ request, person }: Pick<Call, 'request' | 'person'>): Account {
    const number = paramOf(request, 'account')
    const found = this.of(person.id).find(account => numberOf(account) === number)
    if (found === undefined) throw new Problem('unknown_account', `Unauthorized Account: ${number.slice(0, 40)}`, { status: 400 })
    return found
  }

  /** Tradier's number of an account that it keeps. */
  numberOf(accountId: string): string | null {
    const account = this.#house.people.account(accountId)
    return account === undefined || !KINDS.has(account.kind) ? null : numberOf(account)
  }

  profile(person: Person): Branch {
    const accounts = this.of(person.id).map(account => {
      const opened = isoOf(this.#house.books.engine.account(account.id)?.openedAt ?? 0)
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
    return { profile: { id: `id-${person.username}`, name: person.name, account: accounts } }
  }

  balances(account: Account): Branch {
    const { engine } = this.#house.books
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
