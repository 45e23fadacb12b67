/** Every path of the API, below its version. */

import type { FastifyRequest } from 'fastify'
import { paramOf } from '../../house/api/orders.ts'
import type { DialectHouse } from '../../house/dialect.ts'
import { NO_FACTS } from '../../house/faults.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import type { Accounts } from './accounts.ts'
import { answer, textAnswer } from './answers.ts'
import { gainLoss } from './gain-loss.ts'
import { history } from './history.ts'
import { history as barsHistory, timesales } from './market/bars.ts'
import { chain, expirations, lookUp, strikes } from './market/contracts.ts'
import { easyToBorrow, lookup, search } from './market/find.ts'
import type { Greeks } from './market/greeks.ts'
import { calendar, clock } from './market/hours.ts'
import { quotes } from './market/quotes.ts'
import type { Tape } from './market/tape.ts'
import type { TradierOptions } from './options.ts'
import { cancelOrder, changeOrder } from './orders/change.ts'
import type { DeskView } from './orders/desk-view.ts'
import { isPreview } from './orders/form.ts'
import { getOrder, listOrders } from './orders/list.ts'
import type { Notes } from './orders/notes.ts'
import { placeOrder } from './orders/place.ts'
import { positionsTree } from './positions.ts'
import type { AccountStream } from './streams/account.ts'
import type { MarketStream } from './streams/market.ts'
import { fromTradier } from './symbols.ts'
import { BASE } from './tongue.ts'

export interface RoutesDeps {
  readonly house: DialectHouse
  readonly options: TradierOptions
  readonly accounts: Accounts
  readonly view: DeskView
  readonly notes: Notes
  readonly tape: Tape
  readonly greeks: Greeks
  readonly accountStream: AccountStream
  readonly marketStream: MarketStream
}

export function routes(deps: RoutesDeps): readonly DialectRoute[] {
  return [...accountRoutes(deps), ...orderRoutes(deps), ...marketRoutes(deps)]
}

function accountRoutes(deps: RoutesDeps): readonly DialectRoute[] {
  const { accounts, house } = deps
  return [
    {
      method: 'GET',
      path: '/user/profile',
      operation: 'accounts.list',
      act: ({ request, person }) => answer(request, accounts.profile(person))
    },
    {
      method: 'GET',
      path: '/accounts/:account/balances',
      operation: 'balances.list',
      act: call => answer(call.request, accounts.balances(accounts.asked(call)))
    },
    {
      method: 'GET',
      path: '/accounts/:account/positions',
      operation: 'positions.list',
      act: call => {
        const account = accounts.asked(call)
        const held = call.fault?.do === 'empty' ? [] : house.books.engine.positions(account.id)
        return answer(call.request, positionsTree(held))
      }
    },
    {
      method: 'GET',
      path: '/accounts/:account/history',
      operation: 'transactions.list',
      act: call => history(deps, accounts.asked(call), call)
    },
    {
      method: 'GET',
      path: '/accounts/:account/gainloss',
      operation: 'transactions.list',
      act: call => gainLoss(deps, accounts.asked(call), call)
    },
    { method: 'POST', path: '/accounts/events/session', operation: 'me.get', act: call => session(deps, call, 'accounts') }
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
      act: call => placeOrder(deps, call)
    },
    { method: 'GET', path: '/accounts/:account/orders', operation: 'orders.list', act: call => listOrders(deps, call) },
    { method: 'GET', path: one, operation: 'orders.get', about: aboutOrder, act: call => getOrder(deps, call) },
    { method: 'PUT', path: one, operation: 'orders.amend', about: aboutOrder, act: call => changeOrder(deps, call) },
    { method: 'DELETE', path: one, operation: 'orders.cancel', about: aboutOrder, act: call => cancelOrder(deps, call) }
  ]
}

function marketRoutes(deps: RoutesDeps): readonly DialectRoute[] {
  const { house } = deps
  const named = (name: string) => (request: FastifyRequest) => {
    const symbol = texts(request.query)[name]
    return { symbol: symbol === undefined ? null : fromTradier(symbol), clientOrderId: null }
  }
  const about = named('symbol')
  const get = 'GET'
  return [
    { method: get, path: '/markets/quotes', operation: 'quotes.list', about: named('symbols'), act: call => quotes(deps, call) },
    { method: 'POST', path: '/markets/quotes', operation: 'quotes.list', act: call => quotes(deps, call) },
    { method: get, path: '/markets/history', operation: 'bars.list', about, act: call => barsHistory(deps, call) },
    { method: get, path: '/markets/timesales', operation: 'bars.list', about, act: call => timesales(deps, call) },
    { method: get, path: '/markets/options/chains', operation: 'chain.list', about, act: call => chain(deps, call) },
    { method: get, path: '/markets/options/expirations', operation: 'expirations.list', about, act: call => expirations(deps, call) },
    { method: get, path: '/markets/options/strikes', operation: 'chain.list', about, act: call => strikes(deps, call) },
    { method: get, path: '/markets/options/lookup', operation: 'instruments.list', act: call => lookUp(deps, call) },
    { method: get, path: '/markets/clock', operation: 'clock.get', act: call => clock(house, call) },
    { method: get, path: '/markets/calendar', operation: 'calendar.list', act: call => calendar(house, call) },
    { method: get, path: '/markets/search', operation: 'instruments.list', act: call => search(house, call) },
    { method: get, path: '/markets/lookup', operation: 'instruments.list', act: call => lookup(house, call) },
    { method: get, path: '/markets/etb', operation: 'instruments.list', act: call => easyToBorrow(house, call) },
    { method: 'POST', path: '/markets/events/session', operation: 'me.get', act: call => session(deps, call, 'markets') }
  ]
}

function session({ accountStream, marketStream, options }: RoutesDeps, { request, pass }: Call, kind: 'accounts' | 'markets') {
  if (!options.streams) return textAnswer(400, 'streaming is not available')
  const { id } = (kind === 'accounts' ? accountStream : marketStream).session(pass)
  const { host = '127.0.0.1' } = request.headers
  // The market's names its HTTP stream, as Tradier's does.
  const url = kind === 'accounts' ? `ws://${host}/tradier/ws/v1/accounts/events` : `http://${host}${BASE}/markets/events`
  return answer(request, { stream: { url, sessionid: id } })
}
