/** Orders over REST: submit, list, get, find, amend, cancel. */

import type { FastifyRequest } from 'fastify'
import type { OrderView } from '../../engine/types.ts'
import type { Contracts } from '../contracts.ts'
import type { Counters } from '../counters.ts'
import type { Customers } from '../customers.ts'
import type { EventPublisher } from '../event-publisher.ts'
import { NO_FACTS } from '../faults.ts'
import type { Amendment, OrderService } from '../order-service.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import type { BrokerageState } from '../state.ts'
import { previewWire } from '../wire.ts'
import { type Cursors, mergePage, type Part, questionOf } from './cursor.ts'
import { API_PATH, type Call, type Reply, type Route } from './router.ts'
import { CLIENT_ORDER_ID_MAX, readTicket, symbolsOf } from './ticket.ts'

export interface OrderRoutesDeps {
  readonly state: BrokerageState
  readonly contracts: Contracts
  readonly customers: Customers
  readonly orderService: OrderService
  readonly publisher: EventPublisher
  readonly counters: Counters
  readonly cursors: Cursors
}

const AMENDMENT = ['client_order_id', 'quantity', 'notional', 'limit', 'stop']
const LIST = ['state', 'account', 'symbol', 'since', 'until', 'client_order_id', 'sort', 'limit', 'cursor']

export function orderRoutes(deps: OrderRoutesDeps): readonly Route[] {
  const byId = (request: FastifyRequest, login: string) => {
    const accounts = deps.customers.accountsOf(login).map(({ id }) => id)
    const order = deps.state.order(accounts, { orderId: paramOf(request, 'id') })
    return typeof order === 'object' ? { symbol: order.symbol, clientOrderId: order.clientOrderId } : NO_FACTS
  }
  return [
    { method: 'POST', path: '/orders', operation: 'orders.submit', scope: 'trade', about: aboutBody, handle: call => submit(deps, call) },
    {
      method: 'POST',
      path: '/orders/preview',
      operation: 'orders.preview',
      scope: 'trade',
      about: aboutBody,
      handle: call => preview(deps, call)
    },
    { method: 'GET', path: '/orders', operation: 'orders.list', scope: 'read', handle: call => list(deps, call) },
    { method: 'GET', path: '/orders/find', operation: 'orders.find', scope: 'read', about: aboutQuery, handle: call => find(deps, call) },
    { method: 'GET', path: '/orders/:id', operation: 'orders.get', scope: 'read', about: byId, handle: call => get(deps, call) },
    {
      method: 'POST',
      path: '/orders/:id/amend',
      operation: 'orders.amend',
      scope: 'trade',
      about: byId,
      handle: call => amend(deps, call)
    },
    { method: 'DELETE', path: '/orders/:id', operation: 'orders.cancel', scope: 'trade', about: byId, handle: call => cancel(deps, call) }
  ]
}

async function submit(
  { orderService, customers, counters, contracts }: OrderRoutesDeps,
  { request, customer, fault }: Call
): Promise<Reply> {
  const clientOrderId = aboutBody(request).clientOrderId
  if (clientOrderId !== null) counters.receive(clientOrderId)
  const ticket = readTicket(request.body)
  mustOwn(customers, customer.id, ticket.accountId)
  await contracts.bring(symbolsOf(ticket))
  const order = orderService.submit(ticket, fault)
  return { status: 201, body: { order: orderService.wire(order) }, headers: { location: `${API_PATH}/orders/${order.orderId}` } }
}

/** With the fault `place`, a preview places the order. */
async function preview(deps: OrderRoutesDeps, call: Call): Promise<Reply> {
  const { orderService, customers, contracts } = deps
  const ticket = readTicket(call.request.body)
  if (ticket.clientOrderId !== null)
    throw new Problem('bad_request', 'a preview takes no client_order_id, because it places no order', { field: 'client_order_id' })
  if (call.fault?.do === 'place') return submit(deps, call)
  mustOwn(customers, call.customer.id, ticket.accountId)
  await contracts.bring(symbolsOf(ticket))
  return { body: { preview: previewWire(ticket, orderService.preview(ticket)) } }
}

function amend({ orderService, counters }: OrderRoutesDeps, { request, customer, fault }: Call): Reply {
  const order = orderService.own(customer.id, paramOf(request, 'id'))
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
  const amended = orderService.amend(order, wanted, fault)
  if (amended.superseded === null) return { status: 202, body: { order: orderService.wire(amended.order), superseded: null } }
  return { body: { order: orderService.wire(amended.order), superseded: orderService.wire(amended.superseded) } }
}

function cancel({ orderService, state }: OrderRoutesDeps, { request, customer, fault }: Call): Reply {
  const order = orderService.cancel(orderService.own(customer.id, paramOf(request, 'id')), fault)
  const slow = state.overlay(order.orderId)?.busy === 'cancelling'
  return { status: slow ? 202 : 200, body: { order: orderService.wire(order) } }
}

function get({ orderService }: OrderRoutesDeps, { request, customer }: Call): Reply {
  return { body: { order: orderService.wire(orderService.own(customer.id, paramOf(request, 'id'))) } }
}

function find({ orderService, state, customers, publisher }: OrderRoutesDeps, { request, customer }: Call): Reply {
  const fields = new Fields(request.query, ['client_order_id', 'account'])
  const clientOrderId = fields.text('client_order_id')
  const order = state.order(requestedAccounts(customers, customer.id, fields), { clientOrderId })
  const asked = clientOrderId.slice(0, 64)
  if (order === 'forgotten') throw new Problem('order_forgotten', `the order ${asked} ended so long ago that only its id is remembered`)
  if (order === 'unknown' || publisher.isHidden(order.orderId))
    throw new Problem('unknown_order', `no order of yours has the client order id ${asked}`)
  return { body: { order: orderService.wire(order) } }
}

function list(deps: OrderRoutesDeps, { request, customer, fault }: Call): Reply {
  const fields = new Fields(request.query, LIST)
  const accounts = requestedAccounts(deps.customers, customer.id, fields)
  const clientOrderId = fields.textOr('client_order_id')
  if (fault?.do === 'empty') return { body: { items: [], next: null } }
  if (clientOrderId !== null)
    return { body: { items: byClientId(deps, accounts, clientOrderId).map(order => deps.orderService.wire(order)), next: null } }
  const [oldestFirst, filter] = filterOf(fields)
  const limit = fields.countOr('limit', 1, 500) ?? 100
  const question = questionOf({ request, customer })
  const parts: Part<OrderView>[] = accounts.map(account => ({
    account,
    fetch: (after, most) => deps.state.engine.orders(account, { ...filter, limit: most, ...(after === undefined ? {} : { after }) })
  }))
  const before = (a: OrderView, b: OrderView) => (oldestFirst ? a.acceptedAt < b.acceptedAt : a.acceptedAt > b.acceptedAt)
  const page = { parts, limit, idOf: (order: OrderView) => order.orderId, before }
  const result = mergePage({ ...page, position: deps.cursors.read(fields.textOr('cursor'), question) })
  const skips = fault?.do === 'lose_page' && result.next?.page === fault.page
  const next = skips && result.next !== null ? mergePage({ ...page, position: result.next }).next : result.next
  const shown = result.items.filter(order => !deps.publisher.isHidden(order.orderId))
  return {
    body: { items: shown.map(order => deps.orderService.wire(order)), next: next === null ? null : deps.cursors.issue(next, question) }
  }
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
  { state, publisher }: Pick<OrderRoutesDeps, 'state' | 'publisher'>,
  accounts: readonly string[],
  clientOrderId: string
): readonly OrderView[] {
  return accounts
    .map(account => state.order([account], { clientOrderId }))
    .filter(order => typeof order === 'object')
    .filter(order => !publisher.isHidden(order.orderId))
    .sort((a, b) => b.acceptedAt - a.acceptedAt)
}

/** The accounts of a list: the named one, or all of the login's. @throws Problem `unknown_account` */
export function requestedAccounts(customers: Customers, login: string, fields: Fields): readonly string[] {
  const account = fields.textOr('account')
  if (account === null) return customers.accountsOf(login).map(({ id }) => id)
  mustOwn(customers, login, account)
  return [account]
}

/** @throws Problem `unknown_account` */
export function mustOwn(customers: Customers, login: string, account: string): void {
  if (customers.account(account)?.person !== login)
    throw new Problem('unknown_account', `no account ${account.slice(0, 64)} of yours`, { field: 'account' })
}

export function paramOf(request: FastifyRequest, name: string): string {
  const params = request.params
  const value = typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined
  return typeof value === 'string' ? value : ''
}

/** Read without checks: the fields may have any type. */
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
