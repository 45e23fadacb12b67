/** A customer's own affairs over REST, except orders: who it is, accounts, balances, positions, transactions. */

import type { PositionView, TransactionView } from '../../engine/types.ts'
import type { Books } from '../books.ts'
import type { Contracts } from '../contracts.ts'
import type { Desk } from '../desk.ts'
import type { People } from '../people.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import * as wire from '../wire.ts'
import type { Cursors } from './cursor.ts'
import { aboutBody, accountsAsked, mustOwn } from './orders.ts'
import { paged, whole } from './pages.ts'
import type { Call, Reply, Route } from './router.ts'

export interface ReadRoutesDeps {
  readonly books: Books
  readonly people: People
  readonly contracts: Contracts
  readonly desk: Desk
  readonly cursors: Cursors
}

export function readRoutes(deps: ReadRoutesDeps): readonly Route[] {
  const scope = 'read'
  return [
    { method: 'GET', path: '/me', operation: 'me.get', scope, act: me },
    { method: 'GET', path: '/accounts', operation: 'accounts.list', scope, act: call => accounts(deps, call) },
    { method: 'GET', path: '/balances', operation: 'balances.list', scope, act: call => balances(deps, call) },
    { method: 'GET', path: '/positions', operation: 'positions.list', scope, act: call => positions(deps, call) },
    {
      method: 'POST',
      path: '/positions/exercise',
      operation: 'positions.exercise',
      scope: 'trade',
      about: aboutBody,
      act: call => exercise(deps, call)
    },
    { method: 'GET', path: '/transactions', operation: 'transactions.list', scope, act: call => transactions(deps, call) }
  ]
}

function me({ person, pass }: Call): Reply {
  return { body: { login: wire.personWire(person), scopes: [...pass.scopes], client: pass.client } }
}

function accounts({ people, books }: ReadRoutesDeps, { person, request, fault }: Call): Reply {
  noFields(request.query)
  const items = people.accountsOf(person.id).map(account => {
    const view = books.engine.account(account.id)
    return wire.accountWire(account, view?.currency ?? 'USD', view?.openedAt ?? null)
  })
  return whole(items, fault)
}

function balances({ people, books }: ReadRoutesDeps, { person, request, fault }: Call): Reply {
  const fields = new Fields(request.query, ['account'])
  const items = accountsAsked(people, person.id, fields).map(id => wire.balanceWire(books.engine.balance(id), people.account(id)?.kind))
  return whole(items, fault)
}

function positions(deps: ReadRoutesDeps, call: Call): Reply {
  const fields = new Fields(call.request.query, ['account', 'symbol', 'limit', 'cursor'])
  const symbol = fields.textOr('symbol')
  const parts = accountsAsked(deps.people, call.person.id, fields).map(account => ({
    account,
    fetch: (after: string | undefined, most: number) =>
      deps.books.engine
        .positions(account)
        .filter(position => (symbol === null || position.symbol === symbol) && (after === undefined || position.symbol > after))
        .slice(0, most)
  }))
  const merge = { parts, idOf: (position: PositionView) => position.symbol, before: () => false }
  return paged(deps, call, { fields, merge, show: wire.positionWire })
}

async function exercise({ people, contracts, desk }: ReadRoutesDeps, { request, person }: Call): Promise<Reply> {
  const fields = new Fields(request.body, ['account', 'symbol', 'quantity'])
  const [account, symbol, quantity] = [fields.text('account'), fields.text('symbol'), fields.decimalOr('quantity')]
  if (quantity === null) throw new Problem('bad_request', 'quantity is missing', { field: 'quantity' })
  mustOwn(people, person.id, account)
  await contracts.bring([symbol])
  desk.exercise(account, symbol, quantity)
  return { body: { exercised: quantity } }
}

function transactions(deps: ReadRoutesDeps, call: Call): Reply {
  const fields = new Fields(call.request.query, ['account', 'from', 'to', 'limit', 'cursor'])
  const [fromDate, toDate] = [fields.dateOr('from'), fields.dateOr('to')]
  const filter = { ...(fromDate === null ? {} : { fromDate }), ...(toDate === null ? {} : { toDate }) }
  const parts = accountsAsked(deps.people, call.person.id, fields).map(account => ({
    account,
    fetch: (after: string | undefined, most: number) =>
      deps.books.engine.transactions(account, { ...filter, limit: most, ...(after === undefined ? {} : { after }) })
  }))
  const before = (a: TransactionView, b: TransactionView) => a.at > b.at
  return paged(deps, call, { fields, merge: { parts, idOf: transaction => transaction.transactionId, before }, show: wire.transactionWire })
}

function noFields(query: unknown): void {
  new Fields(query, [])
}
