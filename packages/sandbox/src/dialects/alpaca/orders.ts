/** Orders over REST: place, list, read, replace, cancel. */

import { minus, parseDecimal, plus } from '@trunkline/core/domain/decimal'
import type { FastifyRequest } from 'fastify'
import type { OrderView } from '../../engine/types.ts'
import { aboutBody, paramOf } from '../../house/api/orders.ts'
import type { Answer } from '../../house/api/outlet.ts'
import { symbolsOf } from '../../house/api/ticket.ts'
import type { DialectHouse } from '../../house/dialect.ts'
import { NO_FACTS } from '../../house/faults.ts'
import { Problem } from '../../house/problems.ts'
import { isLive } from '../../house/wire.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { Body } from './body.ts'
import type { Customers } from './customers.ts'
import { uuidFor } from './ids.ts'
import { type ListQuery, listQuery, selectOrders } from './order-list.ts'
import { debitOf } from './order-wire.ts'
import { AlpacaProblem, badParameter, CODES, invalid, jsonAnswer, NO_CONTENT, notFound, problemAnswer } from './problems.ts'
import { refusedWith } from './refusals.ts'
import { clientOrderIdOf, isFraction, readTicket } from './ticket.ts'
import { LIFETIME_OF } from './words.ts'

const ORDERS = '/alpaca/api/v2/orders'

export interface OrderDeps {
  readonly house: DialectHouse
  readonly customers: Customers
}

export function orderRoutes(deps: OrderDeps): readonly DialectRoute[] {
  const byId = (request: FastifyRequest, login: string) => {
    const order = deps.customers.find(login, paramOf(request, 'id'))
    return order === undefined ? NO_FACTS : { symbol: order.symbol, clientOrderId: order.clientOrderId }
  }
  const one = `${ORDERS}/:id`
  return [
    { method: 'POST', path: ORDERS, operation: 'orders.submit', about: aboutBody, act: call => place(deps, call) },
    { method: 'GET', path: ORDERS, operation: 'orders.list', act: call => list(deps, call) },
    { method: 'DELETE', path: ORDERS, operation: 'orders.cancel', act: call => cancelAll(deps, call) },
    // Two colons are one to the router.
    {
      method: 'GET',
      path: `${ORDERS}::by_client_order_id`,
      operation: 'orders.find',
      about: ({ query }) => ({ symbol: null, clientOrderId: texts(query).client_order_id ?? null }),
      act: call => find(deps, call)
    },
    { method: 'GET', path: one, operation: 'orders.get', about: byId, act: call => get(deps, call) },
    { method: 'PATCH', path: one, operation: 'orders.amend', about: byId, act: call => replace(deps, call) },
    { method: 'DELETE', path: one, operation: 'orders.cancel', about: byId, act: call => cancel(deps, call) }
  ]
}

async function place({ house, customers }: OrderDeps, { request, person, fault }: Call): Promise<Answer> {
  const { clientOrderId: given } = aboutBody(request)
  if (given !== null) house.counters.receive(given)
  const ticket = readTicket(request.body, {
    find: symbol => customers.instrument(symbol),
    accountFor: instrument => customers.accountFor(person.id, instrument),
    held: symbol => customers.held(person.id, symbol),
    newClientOrderId: () => uuidFor(house.newId())
  })
  mustBeNew(customers, person.id, ticket.clientOrderId)
  await house.contracts.bring(symbolsOf(ticket))
  try {
    return jsonAnswer(customers.first(house.desk.submit(ticket, fault)))
  } catch (error) {
    if (error instanceof Problem) throw refusedWith(error, { house, ticket })
    throw error
  }
}

/** Unique in both of the house's accounts that are one of Alpaca's, and for ever. */
function mustBeNew(customers: Customers, login: string, clientOrderId: string | null): void {
  if (clientOrderId !== null && customers.isUsed(login, clientOrderId))
    throw new Problem('duplicate_client_order_id', 'client_order_id must be unique')
}

function list({ customers }: OrderDeps, { request, person, fault }: Call): Answer {
  if (fault?.do === 'empty') return jsonAnswer([])
  const query: ListQuery = listQuery(request.query, id => customers.houseId(id))
  const found = selectOrders(customers, person.id, query)
  // There are no pages with numbers: whoever pages begins behind an order, and loses what comes next.
  const skips = fault?.do === 'lose_page' && query.isFurther
  const shown = skips ? selectOrders(customers, person.id, { ...query, skip: query.limit }) : found
  return jsonAnswer(shown.map(order => customers.wire(order)))
}

function find({ customers }: OrderDeps, { request, person }: Call): Answer {
  const clientOrderId = new Body(request.query).text('client_order_id')
  if (clientOrderId === null) throw badParameter('client_order_id is required')
  const order = customers.byClientOrderId(person.id, clientOrderId)
  if (order !== undefined) return jsonAnswer(customers.wire(order))
  const promised = customers.promises.byClientOrderId(person.id, clientOrderId)
  if (promised === undefined) throw notFound(`order not found for ${clientOrderId.slice(0, 64)}`)
  return jsonAnswer(promised)
}

function get({ customers }: OrderDeps, { request, person }: Call): Answer {
  const id = paramOf(request, 'id')
  const order = customers.find(person.id, id)
  if (order !== undefined) return jsonAnswer(customers.wire(order))
  const promised = customers.promises.byId(person.id, id)
  if (promised === undefined) throw notFound(`order not found for ${id.slice(0, 64)}`)
  return jsonAnswer(promised)
}

function replace({ house, customers }: OrderDeps, { request, person, fault }: Call): Answer {
  const order = own(customers, person.id, request)
  const body = new Body(request.body)
  const clientOrderId = clientOrderIdOf(body) ?? uuidFor(house.newId())
  house.counters.receive(clientOrderId)
  mustBeReplaceable(customers, order)
  const lifetime = body.text('time_in_force')
  if (lifetime !== null && lifetime !== LIFETIME_OF[order.timeInForce]) throw invalid('time_in_force cannot be changed here')
  const [quantity, limit] = [body.decimal('qty'), body.decimal('limit_price')]
  if (isFraction(quantity) && order.kind !== 'CRYPTO') throw invalid('qty must be integer')
  mustBeNew(customers, person.id, clientOrderId)
  const wanted = {
    clientOrderId,
    quantity: totalOf(order, quantity),
    notional: null,
    limitPrice: limit === null || order.legs === null ? limit : debitOf(limit, order),
    stopPrice: body.decimal('stop_price')
  }
  const amended = house.desk.amend(order, wanted, fault)
  if (amended.superseded !== null) return jsonAnswer(customers.first(amended.order))
  return jsonAnswer(customers.promises.make(person.id, order, { clientOrderId, quantity, limit, stop: wanted.stopPrice }))
}

function mustBeReplaceable(customers: Customers, order: OrderView): void {
  const status = customers.statusOf(order)
  if (!isLive(order)) throw inState(status)
  if (['accepted', 'pending_new', 'pending_cancel', 'pending_replace'].includes(status))
    throw invalid(`cannot replace order in ${status} status`)
  if (order.notional !== null) throw invalid('notional orders cannot be replaced')
  if (order.kind === 'STK' && isFraction(order.quantity)) throw invalid('fractional orders cannot be replaced')
}

/** Alpaca's replacement is an order for so many more (without `qty` for as many as the old one); the house's totals what was filled too. */
function totalOf(order: OrderView, quantity: string | null): string {
  const before = plus(parseDecimal(order.carriedQuantity, 'carried quantity'), parseDecimal(order.filledQuantity, 'filled quantity'))
  const total = parseDecimal(order.quantity ?? '0', 'quantity')
  const own = quantity ?? minus(total, parseDecimal(order.carriedQuantity, 'carried quantity'))
  return plus(before, parseDecimal(own, 'qty'))
}

function cancel({ house, customers }: OrderDeps, { request, person, fault }: Call): Answer {
  const order = own(customers, person.id, request)
  const status = customers.statusOf(order)
  if (!isLive(order)) throw inState(status)
  if (status === 'pending_cancel' || status === 'pending_replace') throw invalid(`order is pending ${status.slice(8)}`)
  house.desk.cancel(order, fault)
  return NO_CONTENT
}

function cancelAll({ house, customers }: OrderDeps, { person }: Call): Answer {
  const isFree = ({ orderId }: OrderView) => (house.books.overlay(orderId)?.busy ?? null) === null
  const orders = [...customers.orders(person.id, { live: true })].filter(isFree)
  const items = orders.map(order => {
    const id = customers.idOf(order.orderId)
    try {
      house.desk.cancel(order, undefined)
      return { id, status: 200, body: customers.wire(house.books.again(order)) }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const { status, text } = problemAnswer(error, null)
      return { id, status, body: JSON.parse(text) as unknown }
    }
  })
  return jsonAnswer(items, 207)
}

/** @throws Problem `unknown_order` */
function own(customers: Customers, login: string, request: FastifyRequest): OrderView {
  const id = paramOf(request, 'id')
  const order = customers.find(login, id)
  if (order !== undefined) return order
  const promised = customers.promises.byId(login, id)
  if (promised === undefined) throw notFound(`order not found for ${id.slice(0, 64)}`)
  throw inState(promised.status)
}

function inState(status: string): AlpacaProblem {
  return new AlpacaProblem(422, CODES.invalid, `order is already in "${status}" state`)
}
