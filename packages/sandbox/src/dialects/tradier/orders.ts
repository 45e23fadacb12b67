/** Orders read, changed and canceled. A change is a new order in the sandbox and the same one at Tradier. */

import { negated } from '@trunkline/core/domain/decimal'
import type { Body } from '../frame/body.ts'
import { daysOf, isLive, NEW_YORK, NO_FACTS, Problem, paramOf, valuesOf } from '../frame/brokerage.ts'
import type { Chain } from '../frame/order-chain.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { accountsOf, foreign, numberOf, pageOf, requested } from './account.ts'
import { bad, errors, fieldsOf, listed, route } from './answers.ts'
import { MULTI_LEG_TYPES, reasonsOf, typeOf } from './order-wire.ts'
import { aboutForm, isPreview, type OrderDeps, place, positive } from './placing.ts'

const dayOf = daysOf(NEW_YORK)

export function orderRoutes(deps: OrderDeps): readonly DialectRoute[] {
  const { brokerage, orders } = deps
  const about: DialectRoute['about'] = (request, login) => {
    const account = accountsOf(brokerage, login).find(one => numberOf(one) === paramOf(request, 'account'))
    const chain = account && orders.find(account.id, paramOf(request, 'id'))
    return chain === undefined ? NO_FACTS : { symbol: chain.last.symbol, clientOrderId: orders.tagOf(chain) }
  }
  const all = '/accounts/:account/orders'
  const one = `${all}/:id`
  return [
    route(
      'POST',
      all,
      request => (isPreview(request) ? 'orders.preview' : 'orders.submit'),
      call => place(deps, call),
      aboutForm
    ),
    route('GET', all, 'orders.list', call => list(deps, call)),
    route('GET', one, 'orders.get', call => get(deps, call), about),
    route('PUT', one, 'orders.amend', call => change(deps, call, chain => amend(deps, call, chain)), about),
    route('DELETE', one, 'orders.cancel', call => change(deps, call, ({ last }) => brokerage.orderService.cancel(last, call.fault)), about)
  ]
}

/** The day's orders and those still working: newest first, each changed order once. */
function list({ brokerage, orders }: OrderDeps, call: Call): object {
  const { id } = requested(brokerage, call)
  const { state, publisher, clock } = brokerage
  const today = { from: dayOf(clock.now()).start }
  const found = [...state.engine.orders(id, today), ...state.engine.orders(id, { live: true })]
    .filter(order => order.state !== 'replaced' && !publisher.isHidden(order.orderId))
    .flatMap(order => orders.chainOf(order) ?? [])
  const chains = [...new Map(found.map(chain => [chain.id, chain])).values()].sort((a, b) => Number(b.id) - Number(a.id))
  const shown = pageOf(call, chains).map(chain => orders.wire(chain, withTags(call)))
  return listed(call, 'orders', 'order', shown, 'null')
}

function get({ brokerage, orders }: OrderDeps, call: Call): object {
  const { id } = requested(brokerage, call)
  const chain = orders.find(id, paramOf(call.request, 'id'))
  // Recorded: an id that never existed is answered like a foreign account.
  if (chain === undefined) throw foreign(paramOf(call.request, 'account'))
  return { order: orders.wire(chain, withTags(call)) }
}

function withTags({ request }: Call): boolean {
  return fieldsOf(request.query).textOr('includeTags') === 'true'
}

/** @throws Problem, answered as text, for an order that cannot change any more */
function change({ brokerage, orders }: OrderDeps, call: Call, carryOut: (chain: Chain) => void): object {
  const { id } = requested(brokerage, call)
  const requestedId = paramOf(call.request, 'id')
  const open = () => {
    const chain = orders.find(id, requestedId)
    if (chain === undefined) throw new Problem('unknown_order', `Order not found: ${requestedId.slice(0, 40)}`)
    if (!isLive(chain.last)) throw new Problem('bad_request', `order already in finalized state: ${orders.statusOf(chain)}`)
    return chain
  }
  const chain = open()
  try {
    carryOut(chain)
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'bad_request') throw error
    if (error.code === 'order_not_open') open()
    if (error.code === 'order_busy') throw new Problem('bad_request', 'order is being changed or canceled')
    return errors(...reasonsOf(error.code, error.message))
  }
  return { order: { id: Number(chain.id), status: 'ok' } }
}

/** Prices alone can change. @throws Problem */
function amend({ brokerage, orders }: OrderDeps, call: Call, chain: Chain): void {
  const form = fieldsOf(call.request.body)
  const { last } = chain
  for (const name of ['quantity', 'symbol', 'side']) if (form.has(name)) bad(name, 'cannot be changed')
  const same = { duration: orders.durationOf(chain), ...(last.legs === null ? { type: typeOf(last) } : {}) }
  for (const [name, value] of Object.entries(same)) if ((form.textOr(name) ?? value) !== value) bad(name, 'cannot be changed here')
  const limitPrice = last.limitPrice === null ? null : limitOf(form, chain)
  const stopPrice = last.stopPrice === null || !form.has('stop') ? last.stopPrice : positive(form, 'stop')
  if (limitPrice === last.limitPrice && stopPrice === last.stopPrice) return
  brokerage.orderService.amend(last, { limitPrice, stopPrice, clientOrderId: null, quantity: null, notional: null }, call.fault)
}

function limitOf(form: Body, { last }: Chain): string | null {
  const type = form.memberOr('type', valuesOf(last.legs === null ? { [typeOf(last)]: '' } : MULTI_LEG_TYPES)) ?? typeOf(last)
  if (type === 'even') return '0'
  if (!form.has('price')) return last.limitPrice
  const price = positive(form, 'price')
  return last.legs === null || (type === 'debit') === (last.side === 'BUY') ? price : negated(price)
}
