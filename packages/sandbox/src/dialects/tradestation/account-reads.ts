/** Accounts, balances and positions over REST. */

import type { Answer } from '../../brokerage/api/response-writer.ts'
import type { Account } from '../../brokerage/customers.ts'
import type { DialectBrokerage } from '../../brokerage/dialect.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import type { AccountViews } from './account-views.ts'
import { accountWire, balanceWire, morningWire } from './accounts.ts'
import { accountsHere, requestedAccounts } from './ownership.ts'
import { isMeant } from './positions.ts'
import { json } from './protocol.ts'
import { shownSymbol } from './symbols.ts'

export interface AccountReadsDeps {
  readonly brokerage: DialectBrokerage
  readonly views: AccountViews
}

export function accountReads(deps: AccountReadsDeps): readonly DialectRoute[] {
  const { brokerage } = deps
  const path = '/brokerage/accounts'
  const balance = (account: Account) => brokerage.state.engine.balance(account.id)
  const lists = (call: Call, name: string, item: (account: Account) => object) => {
    const { accounts, errors } = requested(deps, call)
    return json({ [name]: accounts.map(item), Errors: errors })
  }
  return [
    { method: 'GET', path, operation: 'accounts.list', handle: call => accounts(deps, call) },
    {
      method: 'GET',
      path: `${path}/:accounts/balances`,
      operation: 'balances.list',
      handle: call =>
        lists(call, 'Balances', account => balanceWire(account, balance(account), brokerage.state.engine.positions(account.id)))
    },
    {
      method: 'GET',
      path: `${path}/:accounts/bodbalances`,
      operation: 'balances.list',
      handle: call => lists(call, 'BODBalances', account => morningWire(account, balance(account)))
    },
    { method: 'GET', path: `${path}/:accounts/positions`, operation: 'positions.list', handle: call => positions(deps, call) }
  ]
}

function accounts({ brokerage }: AccountReadsDeps, { customer, fault }: Call): Answer {
  const own = fault?.do === 'empty' ? [] : accountsHere(brokerage.customers, customer.id)
  return json({ Accounts: own.map(account => accountWire(account, brokerage.state.engine.account(account.id)?.currency ?? 'USD')) })
}

function requested({ brokerage }: AccountReadsDeps, { request, customer, fault }: Call) {
  const found = requestedAccounts(brokerage.customers, customer.id, texts(request.params).accounts ?? '')
  return fault?.do === 'empty' ? { ...found, accounts: [] } : found
}

function positions(deps: AccountReadsDeps, call: Call): Answer {
  const { accounts, errors } = requested(deps, call)
  const { symbol = '' } = texts(call.request.query)
  const patterns = symbol.split(',').filter(pattern => pattern !== '')
  const held = accounts
    .flatMap(({ id }) => deps.brokerage.state.engine.positions(id))
    .filter(position => patterns.length === 0 || isMeant(shownSymbol(position.symbol), patterns))
  return json({ Positions: held.map(position => deps.views.position(position)), Errors: errors })
}
