/** Accounts, balances and positions over REST. */

import type { Answer } from '../../house/api/outlet.ts'
import type { DialectHouse } from '../../house/dialect.ts'
import type { Account } from '../../house/people.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { accountWire, balanceWire, morningWire } from './accounts.ts'
import { accountsAsked, accountsHere } from './ownership.ts'
import { isMeant } from './positions.ts'
import type { Sights } from './sights.ts'
import { shownSymbol } from './symbols.ts'
import { json } from './tongue.ts'

export interface AccountReadsDeps {
  readonly house: DialectHouse
  readonly sights: Sights
}

export function accountReads(deps: AccountReadsDeps): readonly DialectRoute[] {
  const { house } = deps
  const path = '/brokerage/accounts'
  const balance = (account: Account) => house.books.engine.balance(account.id)
  const lists = (call: Call, name: string, item: (account: Account) => object) => {
    const { accounts, errors } = asked(deps, call)
    return json({ [name]: accounts.map(item), Errors: errors })
  }
  return [
    { method: 'GET', path, operation: 'accounts.list', act: call => accounts(deps, call) },
    {
      method: 'GET',
      path: `${path}/:accounts/balances`,
      operation: 'balances.list',
      act: call => lists(call, 'Balances', account => balanceWire(account, balance(account), house.books.engine.positions(account.id)))
    },
    {
      method: 'GET',
      path: `${path}/:accounts/bodbalances`,
      operation: 'balances.list',
      act: call => lists(call, 'BODBalances', account => morningWire(account, balance(account)))
    },
    { method: 'GET', path: `${path}/:accounts/positions`, operation: 'positions.list', act: call => positions(deps, call) }
  ]
}

function accounts({ house }: AccountReadsDeps, { person, fault }: Call): Answer {
  const own = fault?.do === 'empty' ? [] : accountsHere(house.people, person.id)
  return json({ Accounts: own.map(account => accountWire(account, house.books.engine.account(account.id)?.currency ?? 'USD')) })
}

function asked({ house }: AccountReadsDeps, { request, person, fault }: Call) {
  const found = accountsAsked(house.people, person.id, texts(request.params).accounts ?? '')
  return fault?.do === 'empty' ? { ...found, accounts: [] } : found
}

function positions(deps: AccountReadsDeps, call: Call): Answer {
  const { accounts, errors } = asked(deps, call)
  const { symbol = '' } = texts(call.request.query)
  const patterns = symbol.split(',').filter(pattern => pattern !== '')
  const held = accounts
    .flatMap(({ id }) => deps.house.books.engine.positions(id))
    .filter(position => patterns.length === 0 || isMeant(shownSymbol(position.symbol), patterns))
  return json({ Positions: held.map(position => deps.sights.position(position)), Errors: errors })
}
