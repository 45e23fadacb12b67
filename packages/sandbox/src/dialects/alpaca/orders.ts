/** Orders over REST: place, list, read, replace, cancel. */

import { parseDecimal, sum, ZERO } from '@trunkline/core/domain/decimal'
import type { FastifyRequest } from 'fastify'
import { type Answer, aboutBody, isLive, NO_FACTS, type OrderView, Problem, paramOf, symbolsOf } from '../frame/brokerage.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { badParameter, bodyOf, instantIn, invalid, jsonAnswer, notFound } from './answers.ts'
import { type CustomerView, numberOf } from './customer-view.ts'
import { debitOf, firstWire, type OrderWire, orderWire, ownQuantity, statusOf } from './order-wire.ts'
import type { OrderKey } from './pending-replacements.ts'
import { clientOrderIdIn, explained, readTicket } from './ticket.ts'
import { positionSymbol, timeInForceOf, uuidFor } from './values.ts'

const ORDERS = '/alpaca/api/v2/orders'
const LIMIT = 50
const LIMIT_MAX = 500

export function orderRoutes(view: CustomerView): readonly DialectRoute[] {
  const byId = (request: FastifyRequest, login: string) => view.find(login, { id: paramOf(request, 'id') }) ?? NO_FACTS
  const byClientOrderId = ({ query }: FastifyRequest) => ({ symbol: null, clientOrderId: texts(query).client_order_id ?? null })
  const read = (keyOf: (request: FastifyRequest) => OrderKey) => ({
    method: 'GET' as const,
    handle: ({ request, customer }: Call) => jsonAnswer(found(view, customer.id, keyOf(request)))
  })
  const one = { path: `${ORDERS}/:id`, about: byId }
  return [
    { method: 'POST', path: ORDERS, operation: 'orders.submit', about: aboutBody, handle: call => place(view, call) },
    { method: 'GET', path: ORDERS, operation: 'orders.list', handle: call => list(view, call) },
    {
      ...read(({ query }) => ({ clientOrderId: texts(query).client_order_id ?? '' })),
      // Two colons are one to the router.
      ...{ path: `${ORDERS}::by_client_order_id`, operation: 'orders.find', about: byClientOrderId }
    },
    { ...one, ...read(request => ({ id: paramOf(request, 'id') })), operation: 'orders.get' },
    { ...one, method: 'PATCH', operation: 'orders.amend', handle: call => replace(view, call) },
    { ...one, method: 'DELETE', operation: 'orders.cancel', handle: call => cancel(view, call) }
  ]
}

/**
 * The client order id of a request, or a new one: unique in both of the sandbox's accounts that are one of Alpaca's, and for ever. @throws
 * Problem
 */
function newClientOrderId(view: CustomerView, { request, customer }: Call): string {
  const id = clientOrderIdIn(request.body) ?? uuidFor(view.brokerage.newId())
  view.brokerage.counters.receive(id)
  if (view.isUsed(customer.id, id)) throw new Problem('duplicate_client_order_id', 'client_order_id must be unique')
  return id
}

async function place(view: CustomerView, call: Call): Promise<Answer> {
  const { contracts, orderService } = view.brokerage
  const clientOrderId = newClientOrderId(view, call)
  const ticket = readTicket(bodyOf(call.request.body), { view, login: call.customer.id, clientOrderId })
  await contracts.bring(symbolsOf(ticket))
  try {
    const order = orderService.submit(ticket, call.fault)
    return jsonAnswer(firstWire(order, view.showing(order)))
  } catch (error) {
    throw error instanceof Problem ? explained(error, ticket) : error
  }
}

/** Paged by an order's id or by time; there are no cursors. */
function list(view: CustomerView, { request, customer, fault }: Call): Answer {
  if (fault?.do === 'empty') return jsonAnswer([])
  const body = bodyOf(request.query)
  const status = body.memberOr('status', ['open', 'closed', 'all']) ?? 'open'
  const limit = body.countOr('limit', 1, LIMIT_MAX) ?? LIMIT
  const [from, behind] = [instantIn(body, 'after'), body.textOr('after_order_id')]
  const after = behind === null ? null : view.internalId(behind)
  if (after === null && behind !== null) throw badParameter(`invalid after_order_id: ${behind.slice(0, 64)}`)
  const oldestFirst = body.memberOr('direction', ['asc', 'desc']) === 'asc'
  const symbols = body.listOr('symbols')?.map(positionSymbol)
  const orders = view
    .orders(customer.id, {
      oldestFirst,
      ...(status === 'all' ? {} : { live: status === 'open' }),
      ...(from === null ? {} : { from: from + 1 }),
      ...(after === null || !oldestFirst ? {} : { after })
    })
    .filter(({ orderId }) => after === null || numberOf(orderId) > numberOf(after))
    .filter(order => symbols === undefined || symbolsIn(order).some(symbol => symbols.includes(positionSymbol(symbol))))
  return jsonAnswer(orders.slice(0, limit).map(order => orderWire(order, view.showing(order))))
}

function symbolsIn({ symbol, legs }: OrderView): readonly string[] {
  return symbol === null ? (legs ?? []).map(leg => leg.symbol) : [symbol]
}

/** An order, or a replacement that is none yet. @throws AlpacaProblem */
function found(view: CustomerView, login: string, key: OrderKey): OrderWire {
  const order = view.find(login, key)
  if (order !== undefined) return orderWire(order, view.showing(order))
  const pending = view.pendingReplacements.find(login, key)
  if (pending === undefined) throw notFound('order', Object.values(key).join())
  return pending
}

/** The order that is to be changed. @throws AlpacaProblem */
function changeable(view: CustomerView, { request, customer }: Call): readonly [order: OrderView, status: string] {
  const id = paramOf(request, 'id')
  const order = view.find(customer.id, { id })
  const status = order === undefined ? found(view, customer.id, { id }).status : statusOf(order, view.showing(order))
  if (order === undefined || !isLive(order)) throw invalid(`order is already in "${status}" state`)
  if (status === 'pending_cancel' || status === 'pending_replace') throw invalid(`order is pending ${status.slice(8)}`)
  return [order, status]
}

/** With the fault `slow` the replacement has an id at once, and is an order later. */
function replace(view: CustomerView, call: Call): Answer {
  const { brokerage, pendingReplacements } = view
  const [order, status] = changeable(view, call)
  const body = bodyOf(call.request.body)
  const clientOrderId = newClientOrderId(view, call)
  if (status === 'accepted') throw invalid('cannot replace order in accepted status')
  const timeInForce = body.textOr('time_in_force')
  if (timeInForce !== null && timeInForce !== timeInForceOf(order.timeInForce)) throw invalid('time_in_force cannot be changed here')
  const [own, limit, stopPrice] = [body.decimalOr('qty'), body.decimalOr('limit_price'), body.decimalOr('stop_price')]
  const limitPrice = limit === null || order.legs === null ? limit : debitOf(limit, order)
  // Alpaca's replacement is an order for so many more (without `qty` for as many as the old one); the sandbox's totals what was filled too.
  const quantity = own ?? ownQuantity(order) ?? ZERO
  const read = (text: string) => parseDecimal(text, 'quantity')
  const total = sum([read(order.carriedQuantity), read(order.filledQuantity), read(quantity)])
  const amended = brokerage.orderService.amend(order, { clientOrderId, quantity: total, notional: null, limitPrice, stopPrice }, call.fault)
  if (amended.superseded !== null) return jsonAnswer(firstWire(amended.order, view.showing(amended.order)))
  const at = brokerage.clock.now()
  const next = { ...order, quantity, clientOrderId, limitPrice: limitPrice ?? order.limitPrice, stopPrice: stopPrice ?? order.stopPrice }
  const promised = { ...next, carriedQuantity: '0', replaces: order.orderId, acceptedAt: at, updatedAt: at }
  const wire = { ...firstWire(promised, view.showing(order)), id: uuidFor(brokerage.newId()) }
  pendingReplacements.add({ login: call.customer.id, replaces: order.orderId, wire })
  return jsonAnswer(wire)
}

function cancel(view: CustomerView, call: Call): Answer {
  const [order] = changeable(view, call)
  view.brokerage.orderService.cancel(order, call.fault)
  return { status: 204, headers: {}, text: '' }
}
