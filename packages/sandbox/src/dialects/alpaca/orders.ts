/** Orders over REST: place, list, read, replace, cancel. */

import { minus, parseDecimal, sum } from '@trunkline/core/domain/decimal'
import type { FastifyRequest } from 'fastify'
import { type Answer, aboutBody, isLive, NO_FACTS, type OrderView, Problem, paramOf, symbolsOf } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { badParameter, bodyOf, invalid, jsonAnswer, notFound } from './answers.ts'
import { type CustomerView, numberOf } from './customer-view.ts'
import { debitOf, firstWire, type OrderWire, orderWire, statusOf } from './order-wire.ts'
import { clientOrderIdIn, explained, isFraction, readTicket } from './ticket.ts'
import { instantOf, positionSymbol, timeInForceOf, uuidFor } from './values.ts'

const ORDERS = '/alpaca/api/v2/orders'
const LIMIT = 50
const LIMIT_MAX = 500

export interface OrderDeps {
  readonly brokerage: BrokerageView
  readonly customerView: CustomerView
}

export function orderRoutes(deps: OrderDeps): readonly DialectRoute[] {
  const byId = (request: FastifyRequest, login: string) => deps.customerView.find(login, { id: paramOf(request, 'id') }) ?? NO_FACTS
  const byClientOrderId = ({ query }: FastifyRequest) => ({ symbol: null, clientOrderId: texts(query).client_order_id ?? null })
  const one = { path: `${ORDERS}/:id`, about: byId }
  return [
    { method: 'POST', path: ORDERS, operation: 'orders.submit', about: aboutBody, handle: call => place(deps, call) },
    { method: 'GET', path: ORDERS, operation: 'orders.list', handle: call => list(deps, call) },
    // Two colons are one to the router.
    {
      ...{ method: 'GET', path: `${ORDERS}::by_client_order_id`, operation: 'orders.find', about: byClientOrderId },
      handle: ({ request, customer }) => {
        const clientOrderId = texts(request.query).client_order_id ?? ''
        return jsonAnswer(found(deps, customer.id, { clientOrderId }))
      }
    },
    {
      ...{ ...one, method: 'GET', operation: 'orders.get' },
      handle: ({ request, customer }) => jsonAnswer(found(deps, customer.id, { id: paramOf(request, 'id') }))
    },
    { ...one, method: 'PATCH', operation: 'orders.amend', handle: call => replace(deps, call) },
    { ...one, method: 'DELETE', operation: 'orders.cancel', handle: call => cancel(deps, call) }
  ]
}

async function place({ brokerage, customerView }: OrderDeps, { request, customer, fault }: Call): Promise<Answer> {
  const { clientOrderId: given } = aboutBody(request)
  if (given !== null) brokerage.counters.receive(given)
  const newClientOrderId = () => uuidFor(brokerage.newId())
  const ticket = readTicket(request.body, { customerView, login: customer.id, newClientOrderId })
  if (ticket.clientOrderId !== null) mustBeNew(customerView, customer.id, ticket.clientOrderId)
  await brokerage.contracts.bring(symbolsOf(ticket))
  try {
    const order = brokerage.orderService.submit(ticket, fault)
    return jsonAnswer(firstWire(order, customerView.showing(order)))
  } catch (error) {
    throw error instanceof Problem ? explained(error, ticket, brokerage.state) : error
  }
}

/** Unique in both of the sandbox's accounts that are one of Alpaca's, and for ever. */
function mustBeNew(customerView: CustomerView, login: string, clientOrderId: string): void {
  if (customerView.isUsed(login, clientOrderId)) throw new Problem('duplicate_client_order_id', 'client_order_id must be unique')
}

/** Paged by an order's id or by time; there are no cursors. */
function list({ customerView }: OrderDeps, { request, customer, fault }: Call): Answer {
  if (fault?.do === 'empty') return jsonAnswer([])
  const body = bodyOf(request.query)
  const status = body.memberOr('status', ['open', 'closed', 'all']) ?? 'open'
  const [limit, from, behind] = [
    body.countOr('limit', 1, LIMIT_MAX) ?? LIMIT,
    body.readOr('after', 'must be an instant', instantOf),
    body.textOr('after_order_id')
  ]
  const after = behind === null ? null : customerView.internalId(behind)
  if (after === null && behind !== null) throw badParameter(`invalid after_order_id: ${behind.slice(0, 64)}`)
  const oldestFirst = body.memberOr('direction', ['asc', 'desc']) === 'asc'
  const symbols = body.listOr('symbols')?.map(positionSymbol)
  const orders = customerView
    .orders(customer.id, {
      oldestFirst,
      ...(status === 'all' ? {} : { live: status === 'open' }),
      ...(from === null ? {} : { from: from + 1 }),
      ...(after === null || !oldestFirst ? {} : { after })
    })
    .filter(order => after === null || numberOf(order) > numberOf({ orderId: after }))
    .filter(order => symbols === undefined || symbolsIn(order).some(symbol => symbols.includes(positionSymbol(symbol))))
  return jsonAnswer(orders.slice(0, limit).map(order => orderWire(order, customerView.showing(order))))
}

function symbolsIn({ symbol, legs }: OrderView): readonly string[] {
  return symbol === null ? (legs ?? []).map(leg => leg.symbol) : [symbol]
}

/** An order, or a replacement that is none yet. @throws AlpacaProblem */
function found({ customerView }: OrderDeps, login: string, ref: Parameters<CustomerView['find']>[1]): OrderWire {
  const order = customerView.find(login, ref)
  if (order !== undefined) return orderWire(order, customerView.showing(order))
  const key = 'id' in ref ? ref : { client_order_id: ref.clientOrderId }
  const pending = customerView.pendingReplacements.find(login, key)
  if (pending === undefined) throw notFound(`order not found for ${Object.values(ref).join().slice(0, 64)}`)
  return pending
}

/** The order that is to be changed. @throws AlpacaProblem */
function changeable(deps: OrderDeps, { request, customer }: Call): readonly [order: OrderView, status: string] {
  const { customerView } = deps
  const id = paramOf(request, 'id')
  const order = customerView.find(customer.id, { id })
  const status = order === undefined ? found(deps, customer.id, { id }).status : statusOf(order, customerView.showing(order))
  if (order === undefined || !isLive(order)) throw invalid(`order is already in "${status}" state`)
  if (status === 'pending_cancel' || status === 'pending_replace') throw invalid(`order is pending ${status.slice(8)}`)
  return [order, status]
}

function replace(deps: OrderDeps, call: Call): Answer {
  const { brokerage, customerView } = deps
  const { request, customer, fault } = call
  const [order, status] = changeable(deps, call)
  const body = bodyOf(request.body)
  const clientOrderId = clientOrderIdIn(body) ?? uuidFor(brokerage.newId())
  brokerage.counters.receive(clientOrderId)
  if (status === 'accepted') throw invalid('cannot replace order in accepted status')
  if (order.notional !== null) throw invalid('notional orders cannot be replaced')
  const [timeInForce, quantity] = [body.textOr('time_in_force'), body.decimalOr('qty')]
  if (timeInForce !== null && timeInForce !== timeInForceOf(order.timeInForce)) throw invalid('time_in_force cannot be changed here')
  if (order.kind !== 'CRYPTO' && (isFraction(quantity) || isFraction(order.quantity))) throw invalid('fractional orders cannot be replaced')
  mustBeNew(customerView, customer.id, clientOrderId)
  const [limit, stop] = [body.decimalOr('limit_price'), body.decimalOr('stop_price')]
  const limitPrice = limit === null || order.legs === null ? limit : debitOf(limit, order)
  const wanted = { clientOrderId, quantity: totalOf(order, quantity), notional: null, limitPrice, stopPrice: stop }
  const amended = brokerage.orderService.amend(order, wanted, fault)
  if (amended.superseded !== null) return jsonAnswer(firstWire(amended.order, customerView.showing(amended.order)))
  const replacement = { clientOrderId, quantity, limit, stop }
  return jsonAnswer(customerView.pendingReplacements.make(customer.id, order, customerView.showing(order), replacement))
}

/** Alpaca's replacement is an order for so many more (without `qty` for as many as the old one); the sandbox's totals what was filled too. */
function totalOf(order: OrderView, wanted: string | null): string {
  const read = (text: string) => parseDecimal(text, 'quantity')
  const carried = read(order.carriedQuantity)
  return sum([carried, read(order.filledQuantity), wanted === null ? minus(read(order.quantity ?? '0'), carried) : read(wanted)])
}

function cancel(deps: OrderDeps, call: Call): Answer {
  const [order] = changeable(deps, call)
  deps.brokerage.orderService.cancel(order, call.fault)
  return { status: 204, headers: {}, text: '' }
}
