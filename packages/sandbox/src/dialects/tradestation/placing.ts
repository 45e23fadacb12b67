/** Orders that customers have done: preview, place, replace, cancel. */

import { absolute, commonDivisor, compare, minus, negated, sum, ZERO } from '@trunkline/core/domain/decimal'
import type { Body } from '../frame/body.ts'
import { type Answer, isLive, type MultiLegTicket, Problem, type Ticket } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { type Chain, chainById, decimal } from '../frame/order-chain.ts'
import { digitsOf } from '../frame/order-ids.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { accountsHere } from './account.ts'
import { bad, bodyOf, json, refuse, refused } from './answers.ts'
import { ACTIONS, DURATIONS, ORDER_TYPES, type TradeAction } from './order-wire.ts'
import { isTodays } from './orders.ts'
import { findInstrument, meantSymbols, shownSymbol } from './symbols.ts'

const PATH = '/orderexecution'
/** The scope of orders with several legs. */
const SPREADS = 'OptionSpreads'
const CONFIRM_ID = /^[\x21-\x7e]{1,22}$/

/** Their refusals are inside of an answer of 200. */
export function placing(brokerage: BrokerageView): readonly DialectRoute[] {
  const about = (request: { readonly body: unknown }) => {
    const { Symbol: symbol = null, OrderConfirmID: clientOrderId = null } = texts(request.body)
    return { symbol: symbol === null ? null : (meantSymbols(symbol)[0] ?? symbol), clientOrderId }
  }
  return [
    { method: 'POST', path: `${PATH}/orders`, operation: 'orders.submit', about, handle: call => place(brokerage, call) },
    { method: 'POST', path: `${PATH}/orderconfirm`, operation: 'orders.preview', about, handle: call => preview(brokerage, call) }
  ]
}

export function changing(brokerage: BrokerageView): readonly DialectRoute[] {
  const path = `${PATH}/orders/:orderId`
  const about = (request: { readonly params: unknown }, login: string) => {
    const { symbol = null, clientOrderId = null } = { ...find(brokerage, login, request.params)?.last }
    return { symbol, clientOrderId }
  }
  return [
    { method: 'PUT', path, operation: 'orders.amend', about, handle: call => replace(brokerage, call) },
    { method: 'DELETE', path, operation: 'orders.cancel', about, handle: call => cancel(brokerage, call) }
  ]
}

async function place(brokerage: BrokerageView, { request, customer, pass, fault }: Call): Promise<Answer> {
  const { OrderConfirmID: id } = texts(request.body)
  if (id !== undefined) brokerage.counters.receive(id)
  const ticket = await ticketOf(brokerage, customer.id, bodyOf(request.body))
  if ('legs' in ticket && !pass.scopes.has(SPREADS))
    throw new Problem('scope_missing', `The access token was granted without the scope ${SPREADS}`)
  const { clientOrderId } = ticket
  // An id counts once for the user, in whichever account.
  if (clientOrderId !== null && brokerage.state.order(idsOf(brokerage, customer.id), { clientOrderId }) !== 'unknown')
    refuse('Duplicate OrderConfirmID')
  return attempted('place', () => {
    const { orderId } = brokerage.orderService.submit(ticket, fault)
    return json({ Orders: [{ Message: 'Sent order', OrderID: digitsOf(orderId) }], Errors: [] })
  })
}

/** Whatever the sandbox refuses is a refusal of TradeStation's. */
function attempted(refusals: 'place' | 'change', carryOut: () => Answer, changed?: string): Answer {
  try {
    return carryOut()
  } catch (error) {
    if (!(error instanceof Problem) || error.status === 429) throw error
    return refused(error.code === 'order_not_open' ? new Problem(error.code, 'Not an open order.') : error, refusals, changed)
  }
}

/** With the fault `place` a preview places the order. */
async function preview(brokerage: BrokerageView, call: Call): Promise<Answer> {
  const { request, customer, fault } = call
  if (fault?.do === 'place') return place(brokerage, call)
  const body = bodyOf(request.body)
  const ticket = await ticketOf(brokerage, customer.id, body)
  const { price, cost, initialMargin, currency } = brokerage.orderService.preview(ticket)
  const isFuture = !('legs' in ticket) && brokerage.contracts.find(ticket.symbol)?.kind === 'FUT'
  // As customers read it: `10,315.00`.
  const margin = Number(initialMargin).toLocaleString('en-US', { minimumFractionDigits: 2 })
  const confirmation = {
    OrderConfirmID: brokerage.newId().slice(0, 22),
    AccountID: body.text('AccountID'),
    SummaryMessage: summaryOf(ticket),
    EstimatedPrice: price,
    // Written without a sign; of a future it is the margin.
    EstimatedCost: isFuture ? initialMargin : cost === null ? null : absolute(decimal(cost)),
    EstimatedCommission: '0',
    Currency: currency,
    ...(isFuture ? { InitialMarginDisplay: `${margin} ${currency}` } : {})
  }
  return json({ Confirmations: [confirmation] })
}

/** `Buy 10 MSFT @ 401.00 Limit`. */
function summaryOf(ticket: Ticket | MultiLegTicket): string {
  const { side, quantity, limitPrice } = ticket
  const what = 'legs' in ticket ? ticket.legs.map(({ symbol }) => shownSymbol(symbol)).join(' / ') : shownSymbol(ticket.symbol)
  return `${side.startsWith('BUY') ? 'Buy' : 'Sell'} ${quantity} ${what} @ ${limitPrice === null ? 'Market' : `${limitPrice} Limit`}`
}

function replace(brokerage: BrokerageView, call: Call): Answer {
  const body = bodyOf(call.request.body)
  const { id, last } = open(brokerage, call, 'Failed to Cancel/Replace order: Not an open order.')
  if (body.has('OrderType')) refuse('A change to a market order is not emulated by this sandbox')
  const limit = body.decimalOr('LimitPrice')
  const isSoldMultiLeg = last.legs !== null && last.side === 'SELL'
  const wanted = {
    ...{ clientOrderId: null, notional: null, quantity: body.decimalOr('Quantity') },
    ...{ limitPrice: limit !== null && isSoldMultiLeg ? negated(limit) : limit, stopPrice: body.decimalOr('StopPrice') }
  }
  if (Object.values(wanted).every(value => value === null)) bad('At least one of LimitPrice, StopPrice, Quantity and OrderType is required')
  const carryOut = () => {
    brokerage.orderService.amend(last, wanted, call.fault)
    return json({ Message: 'Cancel/Replace order sent.', OrderID: id })
  }
  return attempted('change', carryOut, id)
}

function cancel(brokerage: BrokerageView, call: Call): Answer {
  const { id, last } = open(brokerage, call, 'Not an open order.')
  const carryOut = () => {
    brokerage.orderService.cancel(last, call.fault)
    return json({ Message: 'Cancel request sent', OrderID: id })
  }
  return attempted('change', carryOut, id)
}

function idsOf({ customers }: BrokerageView, login: string): readonly string[] {
  return accountsHere(customers, login).map(({ id }) => id)
}

function find(brokerage: BrokerageView, login: string, params: unknown): Chain | undefined {
  return chainById(brokerage, idsOf(brokerage, login), texts(params).orderId ?? '')
}

/** @throws Problem of status 422 */
function open(brokerage: BrokerageView, { request, customer }: Call, notOpen: string): Chain {
  const chain = find(brokerage, customer.id, request.params)
  if (chain === undefined || !isTodays(brokerage)(chain.last)) return refuse('Invalid order ID.')
  return isLive(chain.last) ? chain : refuse(notOpen)
}

/**
 * Reads an order, and loads its symbols into the state.
 * @throws Problem `bad_request` for what cannot be read, others (of status 422) for what is refused
 */
async function ticketOf(brokerage: BrokerageView, login: string, body: Body): Promise<Ticket | MultiLegTicket> {
  const number = body.text('AccountID')
  const account = accountsHere(brokerage.customers, login).find(one => one.number === number)
  if (account === undefined) throw new Problem('scope_missing', `Account ${number.slice(0, 40)} is not one of this user's`)
  const legs = body.bodies('Legs')
  const wanted = (legs.length > 0 ? legs : [body]).map(leg => wantedOf(brokerage, leg))
  const orderType = ORDER_TYPES[body.member('OrderType', keysOf(ORDER_TYPES))]
  const common = {
    accountId: account.id,
    timeInForce: DURATIONS[body.body('TimeInForce').member('Duration', keysOf(DURATIONS))],
    limitPrice: body.decimalOr('LimitPrice'),
    clientOrderId: body.readOr('OrderConfirmID', 'must be 1 to 22 characters', text => CONFIRM_ID.exec(text)?.[0])
  }
  await brokerage.contracts.bring(wanted.map(({ symbol }) => symbol))
  const [only, ...others] = wanted
  if (only === undefined) return bad('Symbol is required')
  if (others.length > 0) return { ...common, orderType: orderType === 'MKT' ? 'MKT' : 'LMT', ...unitsOf(wanted) }
  const { symbol, quantity, action } = only
  const stopPrice = body.decimalOr('StopPrice')
  const ticket: Ticket = { ...common, orderType, symbol, side: ACTIONS[action], quantity, notional: null, stopPrice }
  if (brokerage.contracts.find(symbol)?.kind === 'STK') checkSide(brokerage, ticket, action)
  return ticket
}

function keysOf<Table extends object>(table: Table): readonly (keyof Table & string)[] {
  return Object.keys(table) as (keyof Table & string)[]
}

interface Wanted {
  readonly symbol: string
  readonly quantity: string
  readonly action: TradeAction
}

/** @throws Problem */
function wantedOf(brokerage: BrokerageView, leg: Body): Wanted {
  const text = leg.text('Symbol')
  const found = findInstrument(brokerage, text)
  if (found === null) return refuse(`Invalid symbol ${text.slice(0, 40)}`)
  if (found.kind === 'CRYPTO') return refuse(`${text} cannot be traded through this API`)
  const quantity = leg.decimalOr('Quantity') ?? bad('Quantity is required')
  if (!/^[1-9]\d{0,9}$/.test(quantity)) refuse(`Quantity ${quantity} is not a whole number above zero`)
  return { symbol: found.symbol, quantity, action: leg.member('TradeAction', keysOf(ACTIONS)) }
}

/** Legs have quantities; the sandbox has multi-leg orders and what one contains. The price is what is paid: a credit is below zero. */
function unitsOf(wanted: readonly Wanted[]): Pick<MultiLegTicket, 'side' | 'quantity' | 'legs'> {
  const units = wanted.map(({ quantity }) => BigInt(quantity)).reduce(commonDivisor)
  const legs = wanted.map(({ symbol, quantity, action }) => ({ symbol, side: ACTIONS[action], ratio: String(BigInt(quantity) / units) }))
  return { side: 'BUY', quantity: String(units), legs }
}

/** Share orders declare whether they open or close, and must be right, open orders included. @throws Problem with TradeStation's code */
function checkSide({ state }: BrokerageView, { accountId, symbol, quantity, side }: Ticket, action: TradeAction): void {
  const held = decimal(state.engine.position(accountId, symbol)?.quantity ?? '0')
  const direction = compare(held, ZERO)
  const size = absolute(held)
  const is = direction > 0 ? `you are long ${size}` : direction < 0 ? `you are short ${size}` : 'you have no position in'
  if (action === 'BUY' && direction < 0) refuse(`EC601: ${is} ${symbol}; use Buy to Cover first`)
  if (action === 'SELLSHORT' && direction > 0) refuse(`EC702: ${is} ${symbol}; use Sell first`)
  if (action !== 'SELL' && action !== 'BUYTOCOVER') return
  const orders = state.engine.orders(accountId, { live: true, symbols: [symbol] })
  const promised = orders.filter(order => order.legs === null && order.side === side).map(order => decimal(order.remainingQuantity))
  const left = minus(size, sum(promised))
  if (direction === (action === 'SELL' ? 1 : -1) && compare(decimal(quantity ?? '0'), left) <= 0) return
  refuse(`${action === 'SELL' ? 'EC701' : 'EC602'}: ${is} ${symbol}; ${left} can be ${action === 'SELL' ? 'sold' : 'covered'}`)
}
