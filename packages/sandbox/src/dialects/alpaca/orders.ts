/** Orders over REST: place, list, read, replace, cancel. */

import { minus, parseDecimal, plus } from '@trunkline/core/domain/decimal'
import type { FastifyRequest } from 'fastify'
import { type Answer, aboutBody, isLive, NO_FACTS, type OrderView, Problem, paramOf, symbolsOf } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { Body } from './body.ts'
import type { CustomerView } from './customer-view.ts'
import { TIME_IN_FORCE_OF } from './enums.ts'
import { uuidFor } from './ids.ts'
import { type ListQuery, listQuery, selectOrders } from './order-list.ts'
import { debitOf } from './order-wire.ts'
import { AlpacaProblem, badParameter, CODES, invalid, jsonAnswer, NO_CONTENT, notFound } from './problems.ts'
import { refusedWith } from './refusals.ts'
import { clientOrderIdOf, isFraction, readTicket } from './ticket.ts'

const ORDERS = '/alpaca/api/v2/orders'

export interface OrderDeps {
  readonly brokerage: BrokerageView
  readonly customerView: CustomerView
}

export function orderRoutes(deps: OrderDeps): readonly DialectRoute[] {
  const byId = (request: FastifyRequest, login: string) => {
    const order = deps.customerView.find(login, paramOf(request, 'id'))
    return order === undefined ? NO_FACTS : { symbol: order.symbol, clientOrderId: order.clientOrderId }
  }
  const one = `${ORDERS}/:id`
  return [
    { method: 'POST', path: ORDERS, operation: 'orders.submit', about: aboutBody, handle: call => place(deps, call) },
    { method: 'GET', path: ORDERS, operation: 'orders.list', handle: call => list(deps, call) },
    // Two colons are one to the router.
    {
      method: 'GET',
      path: `${ORDERS}::by_client_order_id`,
      operation: 'orders.find',
      about: ({ query }) => ({ symbol: null, clientOrderId: texts(query).client_order_id ?? null }),
      handle: call => find(deps, call)
    },
    { method: 'GET', path: one, operation: 'orders.get', about: byId, handle: call => get(deps, call) },
    { method: 'PATCH', path: one, operation: 'orders.amend', about: byId, handle: call => replace(deps, call) },
    { method: 'DELETE', path: one, operation: 'orders.cancel', about: byId, handle: call => cancel(deps, call) }
  ]
}

async function place({ brokerage, customerView }: OrderDeps, { request, customer, fault }: Call): Promise<Answer> {
  const { clientOrderId: given } = aboutBody(request)
  if (given !== null) brokerage.counters.receive(given)
  const ticket = readTicket(request.body, {
    find: symbol => customerView.instrument(symbol),
    accountFor: instrument => customerView.accountFor(customer.id, instrument),
    held: symbol => customerView.held(customer.id, symbol),
    newClientOrderId: () => uuidFor(brokerage.newId())
  })
  mustBeNew(customerView, customer.id, ticket.clientOrderId)
  await brokerage.contracts.bring(symbolsOf(ticket))
  try {
    return jsonAnswer(customerView.first(brokerage.orderService.submit(ticket, fault)))
  } catch (error) {
    if (error instanceof Problem) throw refusedWith(error, { brokerage, ticket })
    throw error
  }
}

/** Unique in both of the sandbox's accounts that are one of Alpaca's, and for ever. */
function mustBeNew(customerView: CustomerView, login: string, clientOrderId: string | null): void {
  if (clientOrderId !== null && customerView.isUsed(login, clientOrderId))
    throw new Problem('duplicate_client_order_id', 'client_order_id must be unique')
}

function list({ customerView }: OrderDeps, { request, customer, fault }: Call): Answer {
  if (fault?.do === 'empty') return jsonAnswer([])
  const query: ListQuery = listQuery(request.query, id => customerView.internalId(id))
  const found = selectOrders(customerView, customer.id, query)
  // There are no pages with numbers: anyone who pages begins behind an order, and loses what comes next.
  const skips = fault?.do === 'lose_page' && query.isFurther
  const shown = skips ? selectOrders(customerView, customer.id, { ...query, skip: query.limit }) : found
  return jsonAnswer(shown.map(order => customerView.wire(order)))
}

function find({ customerView }: OrderDeps, { request, customer }: Call): Answer {
  const clientOrderId = new Body(request.query).text('client_order_id')
  if (clientOrderId === null) throw badParameter('client_order_id is required')
  const order = customerView.byClientOrderId(customer.id, clientOrderId)
  if (order !== undefined) return jsonAnswer(customerView.wire(order))
  const pending = customerView.pendingReplacements.byClientOrderId(customer.id, clientOrderId)
  if (pending === undefined) throw notFound(`order not found for ${clientOrderId.slice(0, 64)}`)
  return jsonAnswer(pending)
}

function get({ customerView }: OrderDeps, { request, customer }: Call): Answer {
  const id = paramOf(request, 'id')
  const order = customerView.find(customer.id, id)
  if (order !== undefined) return jsonAnswer(customerView.wire(order))
  const pending = customerView.pendingReplacements.byId(customer.id, id)
  if (pending === undefined) throw notFound(`order not found for ${id.slice(0, 64)}`)
  return jsonAnswer(pending)
}

function replace({ brokerage, customerView }: OrderDeps, { request, customer, fault }: Call): Answer {
  const order = own(customerView, customer.id, request)
  const body = new Body(request.body)
  const clientOrderId = clientOrderIdOf(body) ?? uuidFor(brokerage.newId())
  brokerage.counters.receive(clientOrderId)
  mustBeReplaceable(customerView, order)
  const timeInForce = body.text('time_in_force')
  if (timeInForce !== null && timeInForce !== TIME_IN_FORCE_OF[order.timeInForce]) throw invalid('time_in_force cannot be changed here')
  const [quantity, limit] = [body.decimal('qty'), body.decimal('limit_price')]
  if (isFraction(quantity) && order.kind !== 'CRYPTO') throw invalid('qty must be integer')
  mustBeNew(customerView, customer.id, clientOrderId)
  const wanted = {
    clientOrderId,
    quantity: totalOf(order, quantity),
    notional: null,
    limitPrice: limit === null || order.legs === null ? limit : debitOf(limit, order),
    stopPrice: body.decimal('stop_price')
  }
  const amended = brokerage.orderService.amend(order, wanted, fault)
  if (amended.superseded !== null) return jsonAnswer(customerView.first(amended.order))
  return jsonAnswer(customerView.pendingReplacements.make(customer.id, order, { clientOrderId, quantity, limit, stop: wanted.stopPrice }))
}

function mustBeReplaceable(customerView: CustomerView, order: OrderView): void {
  const status = customerView.statusOf(order)
  if (!isLive(order)) throw inState(status)
  if (['accepted', 'pending_new', 'pending_cancel', 'pending_replace'].includes(status))
    throw invalid(`cannot replace order in ${status} status`)
  if (order.notional !== null) throw invalid('notional orders cannot be replaced')
  if (order.kind === 'STK' && isFraction(order.quantity)) throw invalid('fractional orders cannot be replaced')
}

/** Alpaca's replacement is an order for so many more (without `qty` for as many as the old one); the sandbox's totals what was filled too. */
function totalOf(order: OrderView, quantity: string | null): string {
  const before = plus(parseDecimal(order.carriedQuantity, 'carried quantity'), parseDecimal(order.filledQuantity, 'filled quantity'))
  const total = parseDecimal(order.quantity ?? '0', 'quantity')
  const own = quantity ?? minus(total, parseDecimal(order.carriedQuantity, 'carried quantity'))
  return plus(before, parseDecimal(own, 'qty'))
}

function cancel({ brokerage, customerView }: OrderDeps, { request, customer, fault }: Call): Answer {
  const order = own(customerView, customer.id, request)
  const status = customerView.statusOf(order)
  if (!isLive(order)) throw inState(status)
  if (status === 'pending_cancel' || status === 'pending_replace') throw invalid(`order is pending ${status.slice(8)}`)
  brokerage.orderService.cancel(order, fault)
  return NO_CONTENT
}

/** @throws Problem `unknown_order` */
function own(customerView: CustomerView, login: string, request: FastifyRequest): OrderView {
  const id = paramOf(request, 'id')
  const order = customerView.find(login, id)
  if (order !== undefined) return order
  const pending = customerView.pendingReplacements.byId(login, id)
  if (pending === undefined) throw notFound(`order not found for ${id.slice(0, 64)}`)
  throw inState(pending.status)
}

function inState(status: string): AlpacaProblem {
  return new AlpacaProblem(422, CODES.invalid, `order is already in "${status}" state`)
}
