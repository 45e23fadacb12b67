/** Accounts, balances and positions over REST. */

import type { Answer } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import type { AccountViews } from './account-views.ts'
import { accountWire, balanceWire } from './accounts.ts'
import { accountsHere, requestedAccounts } from './ownership.ts'
import { json } from './protocol.ts'

export interface AccountReadsDeps {
  readonly brokerage: BrokerageView
  readonly views: AccountViews
}

export function accountReads(deps: AccountReadsDeps): readonly DialectRoute[] {
  const path = '/brokerage/accounts'
  return [
    { method: 'GET', path, operation: 'accounts.list', handle: call => accounts(deps, call) },
    {
      method: 'GET',
      path: `${path}/:accounts/balances`,
      operation: 'balances.list',
      handle: call => balances(deps, call)
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

function balances(deps: AccountReadsDeps, call: Call): Answer {
  const { accounts, errors } = requested(deps, call)
  const { engine } = deps.brokerage.state
  return json({ Balances: accounts.map(account => balanceWire(account, engine.balance(account.id))), Errors: errors })
}

function positions(deps: AccountReadsDeps, call: Call): Answer {
  const { accounts, errors } = requested(deps, call)
  const held = accounts.flatMap(({ id }) => deps.brokerage.state.engine.positions(id))
  return json({ Positions: held.map(position => deps.views.position(position)), Errors: errors })
}
