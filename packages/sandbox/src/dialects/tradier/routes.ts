/** Every path of the API, below its version. */

import type { FastifyRequest } from 'fastify'
import { NO_FACTS, paramOf } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { type Accounts, positionsTree } from './accounts.ts'
import { answer } from './answers.ts'
import { history } from './history.ts'
import { history as barsHistory, timesales } from './market/bars.ts'
import type { LastTrades } from './market/last-trades.ts'
import { chain, clock, expirations, find, quotes } from './market/quotes.ts'
import { cancelOrder, changeOrder } from './orders/change.ts'
import { isPreview } from './orders/form.ts'
import { getOrder, listOrders } from './orders/list.ts'
import type { Notes } from './orders/notes.ts'
import { placeOrder } from './orders/place.ts'
import type { TradierOrders } from './orders/tradier-orders.ts'
import { BASE } from './protocol.ts'
import type { AccountStream } from './streams/account.ts'
import type { MarketStream } from './streams/market.ts'
import { fromTradier } from './symbols.ts'

export interface RoutesDeps {
  readonly brokerage: BrokerageView
  readonly accounts: Accounts
  readonly view: TradierOrders
  readonly notes: Notes
  readonly lastTrades: LastTrades
  readonly accountStream: AccountStream
  readonly marketStream: MarketStream
}

export function routes(deps: RoutesDeps): readonly DialectRoute[] {
  return [...accountRoutes(deps), ...orderRoutes(deps), ...marketRoutes(deps)]
}

function accountRoutes(deps: RoutesDeps): readonly DialectRoute[] {
  const { accounts } = deps
  return [
    {
      method: 'GET',
      path: '/user/profile',
      operation: 'accounts.list',
      handle: ({ request, customer }) => answer(request, accounts.profile(customer))
    },
    {
      method: 'GET',
      path: '/accounts/:account/balances',
      operation: 'balances.list',
      handle: call => answer(call.request, accounts.balances(accounts.requested(call)))
    },
    {
      method: 'GET',
      path: '/accounts/:account/positions',
      operation: 'positions.list',
      handle: call => {
        const account = accounts.requested(call)
        return answer(call.request, call.fault?.do === 'empty' ? positionsTree([]) : accounts.positions(account))
      }
    },
    {
      method: 'GET',
      path: '/accounts/:account/history',
      operation: 'transactions.list',
      handle: call => history(deps, accounts.requested(call), call)
    },
    { method: 'POST', path: '/accounts/events/session', operation: 'me.get', handle: call => session(deps, call, 'accounts') }
  ]
}

function orderRoutes(deps: RoutesDeps): readonly DialectRoute[] {
  const aboutForm = (request: FastifyRequest) => {
    const { symbol = '', option_symbol: option = '', tag = null } = texts(request.body)
    return { symbol: option === '' ? fromTradier(symbol) : option, clientOrderId: tag }
  }
  const aboutOrder = (request: FastifyRequest, login: string) => {
    const account = deps.accounts.of(login).find(({ id }) => deps.accounts.numberOf(id) === paramOf(request, 'account'))
    if (account === undefined) return NO_FACTS
    const known = deps.view.lookUp(account.id, paramOf(request, 'id'))
    return known === null ? NO_FACTS : { symbol: known.chain.last.symbol, clientOrderId: known.note.tag }
  }
  const one = '/accounts/:account/orders/:id'
  return [
    {
      method: 'POST',
      path: '/accounts/:account/orders',
      operation: request => (isPreview(texts(request.body)) ? 'orders.preview' : 'orders.submit'),
      about: aboutForm,
      handle: call => placeOrder(deps, call)
    },
    { method: 'GET', path: '/accounts/:account/orders', operation: 'orders.list', handle: call => listOrders(deps, call) },
    { method: 'GET', path: one, operation: 'orders.get', about: aboutOrder, handle: call => getOrder(deps, call) },
    { method: 'PUT', path: one, operation: 'orders.amend', about: aboutOrder, handle: call => changeOrder(deps, call) },
    { method: 'DELETE', path: one, operation: 'orders.cancel', about: aboutOrder, handle: call => cancelOrder(deps, call) }
  ]
}

function marketRoutes(deps: RoutesDeps): readonly DialectRoute[] {
  const named = (name: string) => (request: FastifyRequest) => {
    const symbol = texts(request.query)[name]
    return { symbol: symbol === undefined ? null : fromTradier(symbol), clientOrderId: null }
  }
  const about = named('symbol')
  const get = 'GET'
  return [
    { method: get, path: '/markets/quotes', operation: 'quotes.list', about: named('symbols'), handle: call => quotes(deps, call) },
    { method: 'POST', path: '/markets/quotes', operation: 'quotes.list', handle: call => quotes(deps, call) },
    { method: get, path: '/markets/history', operation: 'bars.list', about, handle: call => barsHistory(deps, call) },
    { method: get, path: '/markets/timesales', operation: 'bars.list', about, handle: call => timesales(deps, call) },
    { method: get, path: '/markets/options/chains', operation: 'chain.list', about, handle: call => chain(deps, call) },
    { method: get, path: '/markets/options/expirations', operation: 'expirations.list', about, handle: call => expirations(deps, call) },
    { method: get, path: '/markets/clock', operation: 'clock.get', handle: call => clock(deps, call) },
    { method: get, path: '/markets/search', operation: 'instruments.list', handle: call => find(deps, call, true) },
    { method: get, path: '/markets/lookup', operation: 'instruments.list', handle: call => find(deps, call, false) },
    { method: 'POST', path: '/markets/events/session', operation: 'me.get', handle: call => session(deps, call, 'markets') }
  ]
}

function session({ accountStream, marketStream }: RoutesDeps, { request, pass }: Call, kind: 'accounts' | 'markets') {
  const { id } = (kind === 'accounts' ? accountStream : marketStream).session(pass)
  const { host = '127.0.0.1' } = request.headers
  // The market's names its HTTP stream, as Tradier's does.
  const url = kind === 'accounts' ? `ws://${host}/tradier/ws/v1/accounts/events` : `http://${host}${BASE}/markets/events`
  return answer(request, { stream: { url, sessionid: id } })
}
