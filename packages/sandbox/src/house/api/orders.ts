/** Orders over REST: submit, list, get, find, amend, cancel. */

import type { FastifyRequest } from 'fastify'
import type { OrderView } from '../../engine/types.ts'
import type { Books } from '../books.ts'
import type { Contracts } from '../contracts.ts'
import type { Counters } from '../counters.ts'
import type { Amendment, Desk } from '../desk.ts'
import { NO_FACTS } from '../faults.ts'
import type { News } from '../news.ts'
import type { People } from '../people.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import { previewWire } from '../wire.ts'
import { type Cursors, mergePage, type Part, questionOf } from './cursor.ts'
import { API_PATH, type Call, type Reply, type Route } from './router.ts'
import { CLIENT_ORDER_ID_MAX, readTicket, symbolsOf } from './ticket.ts'

export interface OrderRoutesDeps {
  readonly books: Books
  readonly contracts: Contracts
  readonly people: People
  readonly desk: Desk
  readonly news: News
  readonly counters: Counters
  readonly cursors: Cursors
}

const AMENDMENT = ['client_order_id', 'quantity', 'notional', 'limit', 'stop']
const LIST = ['state', 'account', 'symbol', 'since', 'until', 'client_order_id', 'sort', 'limit', 'cursor']

export function orderRoutes(deps: OrderRoutesDeps): readonly Route[] {
  const byId = (request: FastifyRequest, login: string) => {
    const accounts = deps.people.accountsOf(login).map(({ id }) => id)
    const order = deps.books.order(accounts, { orderId: paramOf(request, 'id') })
    return typeof order === 'object' ? { symbol: order.symbol, clientOrderId: order.clientOrderId } : NO_FACTS
  }
  return [
    { method: 'POST', path: '/orders', operation: 'orders.submit', scope: 'trade', about: aboutBody, act: call => submit(deps, call) },
    {
      method: 'POST',
      path: '/orders/preview',
      operation: 'orders.preview',
      scope: 'trade',
      about: aboutBody,
      act: call => preview(deps, call)
    },
    { method: 'GET', path: '/orders', operation: 'orders.list', scope: 'read', act: call => list(deps, call) },
    { method: 'GET', path: '/orders/find', operation: 'orders.find', scope: 'read', about: aboutQuery, act: call => find(deps, call) },
    { method: 'GET', path: '/orders/:id', operation: 'orders.get', scope: 'read', about: byId, act: call => get(deps, call) },
    { method: 'POST', path: '/orders/:id/amend', operation: 'orders.amend', scope: 'trade', about: byId, act: call => amend(deps, call) },
    { method: 'DELETE', path: '/orders/:id', operation: 'orders.cancel', scope: 'trade', about: byId, act: call => cancel(deps, call) }
  ]
}

async function submit({ desk, people, counters, contracts }: OrderRoutesDeps, { request, person, fault }: Call): Promise<Reply> {
  const clientOrderId = aboutBody(request).clientOrderId
  if (clientOrderId !== null) counters.receive(clientOrderId)
  const ticket = readTicket(request.body)
  mustOwn(people, person.id, ticket.accountId)
  await contracts.bring(symbolsOf(ticket))
  const order = desk.submit(ticket, fault)
  return { status: 201, body: { order: desk.wire(order) }, headers: { location: `${API_PATH}/orders/${order.orderId}` } }
}

/** With the fault `place`, the house places what it was only asked about. */
async function preview(deps: OrderRoutesDeps, call: Call): Promise<Reply> {
  const { desk, people, contracts } = deps
  const ticket = readTicket(call.request.body)
  if (ticket.clientOrderId !== null)
    throw new Problem('bad_request', 'a preview takes no client_order_id: it makes no order', { field: 'client_order_id' })
  if (call.fault?.do === 'place') return submit(deps, call)
  mustOwn(people, call.person.id, ticket.accountId)
  await contracts.bring(symbolsOf(ticket))
  return { body: { preview: previewWire(ticket, desk.preview(ticket)) } }
}

function amend({ desk, counters }: OrderRoutesDeps, { request, person, fault }: Call): Reply {
  const order = desk.own(person.id, paramOf(request, 'id'))
  const fields = new Fields(request.body, AMENDMENT)
  const wanted: Amendment = {
    clientOrderId: fields.nameOr('client_order_id', CLIENT_ORDER_ID_MAX),
    quantity: fields.decimalOr('quantity'),
    notional: fields.decimalOr('notional'),
    limitPrice: fields.decimalOr('limit'),
    stopPrice: fields.decimalOr('stop')
  }
  if (wanted.clientOrderId !== null) counters.receive(wanted.clientOrderId)
  if (wanted.quantity === null && wanted.notional === null && wanted.limitPrice === null && wanted.stopPrice === null)
    throw new Problem('bad_request', 'an amendment changes quantity, notional, limit or stop')
  const amended = desk.amend(order, wanted, fault)
  if (amended.superseded === null) return { status: 202, body: { order: desk.wire(amended.order), superseded: null } }
  return { body: { order: desk.wire(amended.order), superseded: desk.wire(amended.superseded) } }
}

function cancel({ desk, books }: OrderRoutesDeps, { request, person, fault }: Call): Reply {
  const order = desk.cancel(desk.own(person.id, paramOf(request, 'id')), fault)
  const slow = books.overlay(order.orderId)?.busy === 'cancelling'
  return { status: slow ? 202 : 200, body: { order: desk.wire(order) } }
}

function get({ desk }: OrderRoutesDeps, { request, person }: Call): Reply {
  return { body: { order: desk.wire(desk.own(person.id, paramOf(request, 'id'))) } }
}

function find({ desk, books, people, news }: OrderRoutesDeps, { request, person }: Call): Reply {
  const fields = new Fields(request.query, ['client_order_id', 'account'])
  const clientOrderId = fields.text('client_order_id')
  const order = books.order(accountsAsked(people, person.id, fields), { clientOrderId })
  const asked = clientOrderId.slice(0, 64)
  if (order === 'forgotten') throw new Problem('order_forgotten', `the order ${asked} was over so long ago that only its id is remembered`)
  if (order === 'unknown' || news.isHidden(order.orderId))
    throw new Problem('unknown_order', `no order of yours has the client order id ${asked}`)
  return { body: { order: desk.wire(order) } }
}

function list(deps: OrderRoutesDeps, { request, person, fault }: Call): Reply {
  const fields = new Fields(request.query, LIST)
  const accounts = accountsAsked(deps.people, person.id, fields)
  const clientOrderId = fields.textOr('client_order_id')
  if (fault?.do === 'empty') return { body: { items: [], next: null } }
  if (clientOrderId !== null)
    return { body: { items: byClientId(deps, accounts, clientOrderId).map(order => deps.desk.wire(order)), next: null } }
  const [oldestFirst, filter] = filterOf(fields)
  const limit = fields.countOr('limit', 1, 500) ?? 100
  const question = questionOf({ request, person })
  const parts: Part<OrderView>[] = accounts.map(account => ({
    account,
    fetch: (after, most) => deps.books.engine.orders(account, { ...filter, limit: most, ...(after === undefined ? {} : { after }) })
  }))
  const before = (a: OrderView, b: OrderView) => (oldestFirst ? a.acceptedAt < b.acceptedAt : a.acceptedAt > b.acceptedAt)
  const page = { parts, limit, idOf: (order: OrderView) => order.orderId, before }
  const result = mergePage({ ...page, place: deps.cursors.read(fields.textOr('cursor'), question) })
  const skips = fault?.do === 'lose_page' && result.next?.page === fault.page
  const next = skips && result.next !== null ? mergePage({ ...page, place: result.next }).next : result.next
  const shown = result.items.filter(order => !deps.news.isHidden(order.orderId))
  return { body: { items: shown.map(order => deps.desk.wire(order)), next: next === null ? null : deps.cursors.issue(next, question) } }
}

function filterOf(fields: Fields) {
  const state = fields.memberOr('state', ['open', 'over', 'all']) ?? 'all'
  const oldestFirst = fields.memberOr('sort', ['asc', 'desc']) === 'asc'
  const symbol = fields.textOr('symbol')
  const since = fields.timeOr('since')
  const until = fields.timeOr('until')
  const filter = {
    oldestFirst,
    ...(state === 'all' ? {} : { live: state === 'open' }),
    ...(symbol === null ? {} : { symbols: [symbol] }),
    ...(since === null ? {} : { from: since }),
    ...(until === null ? {} : { until })
  }
  return [oldestFirst, filter] as const
}

/** Newest first. */
function byClientId(
  { books, news }: Pick<OrderRoutesDeps, 'books' | 'news'>,
  accounts: readonly string[],
  clientOrderId: string
): readonly OrderView[] {
  return accounts
    .map(account => books.order([account], { clientOrderId }))
    .filter(order => typeof order === 'object')
    .filter(order => !news.isHidden(order.orderId))
    .sort((a, b) => b.acceptedAt - a.acceptedAt)
}

/** The accounts a list is about: the one named, or all of the login. @throws Problem `unknown_account` */
export function accountsAsked(people: People, login: string, fields: Fields): readonly string[] {
  const account = fields.textOr('account')
  if (account === null) return people.accountsOf(login).map(({ id }) => id)
  mustOwn(people, login, account)
  return [account]
}

/** @throws Problem `unknown_account` */
export function mustOwn(people: People, login: string, account: string): void {
  if (people.account(account)?.person !== login)
    throw new Problem('unknown_account', `no account ${account.slice(0, 64)} of yours`, { field: 'account' })
}

export function paramOf(request: FastifyRequest, name: string): string {
  const params = request.params
  const value = typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined
  return typeof value === 'string' ? value : ''
}

/** Read loosely: the fields may be anything yet. */
export function aboutBody(request: FastifyRequest) {
  return about(request.body)
}

function aboutQuery(request: FastifyRequest) {
  return about(request.query)
}

function about(value: unknown): { readonly symbol: string | null; readonly clientOrderId: string | null } {
  const read = (name: string) => {
    const found = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
    return typeof found === 'string' ? found : null
  }
  return { symbol: read('symbol'), clientOrderId: read('client_order_id') }
}
