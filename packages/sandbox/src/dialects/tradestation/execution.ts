/** Orders that customers have done: preview, place, replace, cancel. */

import { type Answer, type Facts, isLive, type OrderView, Problem } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { digitsOf } from '../frame/order-ids.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import type { AccountViews } from './account-views.ts'
import { type Chain, chainById } from './chains.ts'
import { confirmation } from './confirmation.ts'
import { descriptionOf } from './descriptions.ts'
import { isTodays } from './order-lists.ts'
import { accountsHere } from './ownership.ts'
import { json, refused } from './protocol.ts'
import { bodyOf, refuse } from './reading.ts'
import { meantSymbols } from './symbols.ts'
import { type Placing, readPlacing } from './ticket.ts'

export interface ExecutionDeps {
  readonly brokerage: BrokerageView
  readonly views: AccountViews
}

const PATH = '/orderexecution'
/** The scope of orders with several legs. */
const SPREADS = 'OptionSpreads'

/** Its refusals are inside of an answer of 200. */
export function placing(deps: ExecutionDeps): readonly DialectRoute[] {
  const about = (request: { readonly body: unknown }) => aboutBody(request.body)
  return [
    { method: 'POST', path: `${PATH}/orders`, operation: 'orders.submit', about, handle: call => place(deps, call) },
    { method: 'POST', path: `${PATH}/orderconfirm`, operation: 'orders.preview', about, handle: call => preview(deps, call) }
  ]
}

export function changing(deps: ExecutionDeps): readonly DialectRoute[] {
  const path = `${PATH}/orders/:orderId`
  const about = (request: { readonly params: unknown }, login: string) => {
    const chain = find(deps, login, texts(request.params).orderId ?? '')
    return { symbol: chain?.last.symbol ?? null, clientOrderId: chain?.last.clientOrderId ?? null }
  }
  return [
    { method: 'PUT', path, operation: 'orders.amend', about, handle: call => replace(deps, call) },
    { method: 'DELETE', path, operation: 'orders.cancel', about, handle: call => cancel(deps, call) }
  ]
}

/** Read loosely: the fields may be anything yet. */
function aboutBody(body: unknown): Omit<Facts, 'login'> {
  const read = (name: string) => {
    const found: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
    return typeof found === 'string' ? found : null
  }
  const symbol = read('Symbol')
  return { symbol: symbol === null ? null : (meantSymbols(symbol)[0] ?? symbol), clientOrderId: read('OrderConfirmID') }
}

async function place({ brokerage, views }: ExecutionDeps, { request, customer, pass, fault }: Call): Promise<Answer> {
  const { clientOrderId } = aboutBody(request.body)
  if (clientOrderId !== null) brokerage.counters.receive(clientOrderId)
  const { ticket, action } = await readPlacing(brokerage, customer.id, bodyOf(request.body))
  if ('legs' in ticket && !pass.scopes.has(SPREADS))
    throw new Problem('scope_missing', `The access token was granted without the scope ${SPREADS}`)
  if (ticket.clientOrderId !== null && isUsed(brokerage, customer.id, ticket.clientOrderId)) refuse('Duplicate OrderConfirmID')
  try {
    const { orderId } = views.placing(action, () => brokerage.orderService.submit(ticket, fault))
    return json({ Orders: [{ Message: `Sent order: ${descriptionOf(ticket, action)}`, OrderID: digitsOf(orderId) }], Errors: [] })
  } catch (error) {
    if (!(error instanceof Problem) || error.status === 429) throw error
    return refused(error.message, orderIdOf(error), 'place')
  }
}

/** An id counts once for the user, in whichever account. */
function isUsed({ customers, state }: BrokerageView, login: string, clientOrderId: string): boolean {
  const accounts = accountsHere(customers, login).map(({ id }) => id)
  return state.order(accounts, { clientOrderId }) !== 'unknown'
}

/** The rejected order that a refusal has left. */
function orderIdOf({ detail: { order } }: Problem): string | null {
  const id: unknown = typeof order === 'object' && order !== null ? Reflect.get(order, 'id') : undefined
  return typeof id === 'string' ? digitsOf(id) : null
}

/** With the fault `place` a preview places the order. */
async function preview(deps: ExecutionDeps, call: Call): Promise<Answer> {
  const { brokerage } = deps
  const { request, customer, fault } = call
  if (fault?.do === 'place') return place(deps, call)
  const read: Placing = await readPlacing(brokerage, customer.id, bodyOf(request.body))
  return json({ Confirmations: [confirmation(brokerage, read, brokerage.newId().slice(0, 22))] })
}

function find({ brokerage }: ExecutionDeps, login: string, id: string): Chain | undefined {
  const accounts = accountsHere(brokerage.customers, login).map(account => account.id)
  const chain = chainById(brokerage.state, accounts, id)
  return chain === undefined || brokerage.publisher.isHidden(chain.last.orderId) ? undefined : chain
}

function replace(deps: ExecutionDeps, { request, customer, fault }: Call): Answer {
  const body = bodyOf(request.body)
  const chain = open(deps, customer.id, request.params, 'Failed to Cancel/Replace order: Not an open order.')
  const { last } = chain
  if (body.has('OrderType')) refuse('A change to a market order is not emulated by this sandbox')
  if (body.has('AdvancedOptions') && !body.body('AdvancedOptions').isEmpty) refuse('AdvancedOptions are not emulated by this sandbox')
  const limit = body.decimalOr('LimitPrice')
  const wanted = {
    clientOrderId: null,
    quantity: body.decimalOr('Quantity'),
    notional: null,
    limitPrice: limit !== null && isSoldMultiLeg(last) ? negatedText(limit) : limit,
    stopPrice: body.decimalOr('StopPrice')
  }
  if (wanted.quantity === null && wanted.limitPrice === null && wanted.stopPrice === null)
    throw new Problem('bad_request', 'At least one of LimitPrice, StopPrice, Quantity, OrderType and AdvancedOptions is required')
  return changed(chain, 'Cancel/Replace order sent.', () => deps.brokerage.orderService.amend(last, wanted, fault))
}

function cancel(deps: ExecutionDeps, { request, customer, fault }: Call): Answer {
  const chain = open(deps, customer.id, request.params, 'Not an open order.')
  return changed(chain, 'Cancel request sent', () => deps.brokerage.orderService.cancel(chain.last, fault))
}

function isSoldMultiLeg({ legs, side }: OrderView): boolean {
  return legs !== null && side === 'SELL'
}

function negatedText(text: string): string {
  return text.startsWith('-') ? text.slice(1) : `-${text}`
}

/** @throws Problem of status 422 */
function open(deps: ExecutionDeps, login: string, params: unknown, notOpen: string): Chain {
  const chain = find(deps, login, texts(params).orderId ?? '')
  if (chain === undefined || !isTodays(deps.brokerage, chain.last)) return refuse('Invalid order ID.')
  if (!isLive(chain.last)) return refuse(notOpen)
  return chain
}

function changed({ id }: Chain, message: string, handle: () => unknown): Answer {
  try {
    handle()
    return json({ Message: message, OrderID: id })
  } catch (error) {
    if (!(error instanceof Problem) || error.status === 429) throw error
    return refused(error.code === 'order_not_open' ? 'Not an open order.' : error.message, id, 'change')
  }
}
