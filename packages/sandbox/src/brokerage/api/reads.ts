/** A customer's data over REST, except orders: the user, accounts, balances, positions, transactions. */

import type { PositionView, TransactionView } from '../../engine/types.ts'
import type { Contracts } from '../contracts.ts'
import type { Customers } from '../customers.ts'
import type { OrderService } from '../order-service.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import type { BrokerageState } from '../state.ts'
import * as wire from '../wire.ts'
import type { Cursors } from './cursor.ts'
import { aboutBody, mustOwn, requestedAccounts } from './orders.ts'
import { paged, whole } from './pages.ts'
import type { Call, Reply, Route } from './router.ts'

export interface ReadRoutesDeps {
  readonly state: BrokerageState
  readonly customers: Customers
  readonly contracts: Contracts
  readonly orderService: OrderService
  readonly cursors: Cursors
}

export function readRoutes(deps: ReadRoutesDeps): readonly Route[] {
  const scope = 'read'
  return [
    { method: 'GET', path: '/me', operation: 'me.get', scope, handle: me },
    { method: 'GET', path: '/accounts', operation: 'accounts.list', scope, handle: call => accounts(deps, call) },
    { method: 'GET', path: '/balances', operation: 'balances.list', scope, handle: call => balances(deps, call) },
    { method: 'GET', path: '/positions', operation: 'positions.list', scope, handle: call => positions(deps, call) },
    {
      method: 'POST',
      path: '/positions/exercise',
      operation: 'positions.exercise',
      scope: 'trade',
      about: aboutBody,
      handle: call => exercise(deps, call)
    },
    { method: 'GET', path: '/transactions', operation: 'transactions.list', scope, handle: call => transactions(deps, call) }
  ]
}

function me({ customer, pass }: Call): Reply {
  return { body: { login: wire.customerWire(customer), scopes: [...pass.scopes], client: pass.client } }
}

function accounts({ customers, state }: ReadRoutesDeps, { customer, request, fault }: Call): Reply {
  noFields(request.query)
  const items = customers.accountsOf(customer.id).map(account => {
    const view = state.engine.account(account.id)
    return wire.accountWire(account, view?.currency ?? 'USD', view?.openedAt ?? null)
  })
  return whole(items, fault)
}

function balances({ customers, state }: ReadRoutesDeps, { customer, request, fault }: Call): Reply {
  const fields = new Fields(request.query, ['account'])
  const items = requestedAccounts(customers, customer.id, fields).map(id =>
    wire.balanceWire(state.engine.balance(id), customers.account(id)?.kind)
  )
  return whole(items, fault)
}

function positions(deps: ReadRoutesDeps, call: Call): Reply {
  const fields = new Fields(call.request.query, ['account', 'symbol', 'limit', 'cursor'])
  const symbol = fields.textOr('symbol')
  const parts = requestedAccounts(deps.customers, call.customer.id, fields).map(account => ({
    account,
    fetch: (after: string | undefined, most: number) =>
      deps.state.engine
        .positions(account)
        .filter(position => (symbol === null || position.symbol === symbol) && (after === undefined || position.symbol > after))
        .slice(0, most)
  }))
  const merge = { parts, idOf: (position: PositionView) => position.symbol, before: () => false }
  return paged(deps, call, { fields, merge, show: wire.positionWire })
}

async function exercise({ customers, contracts, orderService }: ReadRoutesDeps, { request, customer }: Call): Promise<Reply> {
  const fields = new Fields(request.body, ['account', 'symbol', 'quantity'])
  const [account, symbol, quantity] = [fields.text('account'), fields.text('symbol'), fields.decimalOr('quantity')]
  if (quantity === null) throw new Problem('bad_request', 'quantity is missing', { field: 'quantity' })
  mustOwn(customers, customer.id, account)
  await contracts.bring([symbol])
  orderService.exercise(account, symbol, quantity)
  return { body: { exercised: quantity } }
}

function transactions(deps: ReadRoutesDeps, call: Call): Reply {
  const fields = new Fields(call.request.query, ['account', 'from', 'to', 'limit', 'cursor'])
  const [fromDate, toDate] = [fields.dateOr('from'), fields.dateOr('to')]
  const filter = { ...(fromDate === null ? {} : { fromDate }), ...(toDate === null ? {} : { toDate }) }
  const parts = requestedAccounts(deps.customers, call.customer.id, fields).map(account => ({
    account,
    fetch: (after: string | undefined, most: number) =>
      deps.state.engine.transactions(account, { ...filter, limit: most, ...(after === undefined ? {} : { after }) })
  }))
  const before = (a: TransactionView, b: TransactionView) => a.at > b.at
  return paged(deps, call, { fields, merge: { parts, idOf: transaction => transaction.transactionId, before }, show: wire.transactionWire })
}

function noFields(query: unknown): void {
  new Fields(query, [])
}
