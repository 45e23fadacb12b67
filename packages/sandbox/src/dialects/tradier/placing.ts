/** Placing orders and previews: the form, the side, the hour, then the order service. Invalid values are answered as text. */

import { absolute, commonDivisor, compare, type Decimal, isDecimal, isPositive, minus, sum, ZERO } from '@trunkline/core/domain/decimal'
import type { FastifyRequest } from 'fastify'
import type { Body } from '../frame/body.ts'
import { type Account, type Fault, type MultiLegTicket, Problem, type Ticket, valuesOf } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { decimal } from '../frame/order-chain.ts'
import { digitsOf, uuidOf } from '../frame/order-ids.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { fromTradier, requested } from './account.ts'
import { bad, errors, fieldsOf, plain } from './answers.ts'
import {
  DURATIONS,
  isRefusedAtOnce,
  MULTI_LEG_TYPES,
  OPTION_SIDES,
  reasonsOf,
  SHARE_SIDES,
  type TradierOrders,
  TYPES
} from './order-wire.ts'

const QUANTITY_MAX = 10_000_000
const LEGS_MAX = 4
const TAG = /^[A-Za-z0-9-]{1,255}$/
/** Longer tags, and those used before, are no client order ids of the state. */
const CLIENT_ORDER_ID_MAX = 64
/** The application that orders come from. */
const PARTNER = uuidOf('partner-tradier-1')
const SHORT_PRICE_LEAST = decimal('5')

export interface OrderDeps {
  readonly brokerage: BrokerageView
  readonly orders: TradierOrders
}

type ShareSide = keyof typeof SHARE_SIDES

interface Wanted {
  readonly ticket: Ticket | MultiLegTicket
  readonly symbols: readonly string[]
  readonly duration: keyof typeof DURATIONS
  /** Of shares; null for options. */
  readonly side: ShareSide | null
}

export const aboutForm: DialectRoute['about'] = request => {
  const { symbol = '', option_symbol: option = '', tag = null } = texts(request.body)
  return { symbol: option === '' ? fromTradier(symbol) : option, clientOrderId: tag }
}

export function isPreview({ body }: Pick<FastifyRequest, 'body'>): boolean {
  return texts(body).preview === 'true'
}

export async function place({ brokerage, orders }: OrderDeps, call: Call): Promise<object> {
  const form = fieldsOf(call.request.body)
  const { tag: sent } = texts(call.request.body)
  if (sent !== undefined) brokerage.counters.receive(sent)
  const account = requested(brokerage, call)
  const tag = form.readOr('tag', 'must be at most 255 letters, digits and dashes', text => TAG.exec(text)?.[0])
  const wanted = wantedOf(account.id, form)
  const { ticket, side, symbols, duration } = wanted
  await brokerage.contracts.bring(symbols)
  mustBeInTime(brokerage, wanted)
  const broken = brokenRule(brokerage, account, wanted)
  if (broken.length > 0) return errors(...broken)
  // With the fault `place` a preview places the order.
  if (isPreview(call.request) && call.fault?.do !== 'place') return previewed(brokerage, ticket)
  // The tag, unless another order of the account has it: Tradier does not care, the sandbox does.
  const isFree = tag !== null && tag.length <= CLIENT_ORDER_ID_MAX && !isKnown(brokerage, account.id, tag)
  const clientOrderId = isFree ? tag : `sandbox-${brokerage.newId()}`
  const session = duration === 'pre' || duration === 'post' ? duration : null
  if ((tag !== null && !isFree) || side === 'sell_short' || side === 'buy_to_cover' || session !== null)
    orders.label(clientOrderId, { tag, side, duration: session })
  return submit(brokerage, { ...ticket, clientOrderId }, call.fault)
}

function isKnown({ state }: BrokerageView, accountId: string, clientOrderId: string): boolean {
  return state.order([accountId], { clientOrderId }) !== 'unknown'
}

/** What the sandbox turns down at once is refused; what it turns down for other reasons has been taken, and shows what became of it. */
function submit({ orderService, state }: BrokerageView, ticket: Ticket | MultiLegTicket, fault: Fault | undefined): object {
  const taken = (orderId: string) => ({ order: { id: Number(digitsOf(orderId)), status: 'ok', partner_id: PARTNER } })
  try {
    return taken(orderService.submit(ticket, fault).orderId)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const clientOrderId = ticket.clientOrderId ?? ''
    const order = isRefusedAtOnce(error.code) ? 'unknown' : state.order([ticket.accountId], { clientOrderId })
    return typeof order === 'object' ? taken(order.orderId) : errors(...reasonsOf(error.code, error.message))
  }
}

/** Refused for what the order would be refused for; a cost below zero is what selling brings. */
function previewed({ orderService }: BrokerageView, ticket: Ticket | MultiLegTicket): object {
  try {
    const cost = plain(orderService.preview(ticket).cost ?? '0')
    return { order: { status: 'ok', commission: 0, cost, fees: 0, result: true, order_cost: cost, margin_change: 0 } }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return errors(...reasonsOf(error.code, error.message))
  }
}

/** @throws Problem */
function wantedOf(accountId: string, form: Body): Wanted {
  const kind = form.member('class', ['equity', 'option', 'multileg'])
  const duration = form.member('duration', valuesOf(DURATIONS))
  const common = { accountId, clientOrderId: null, timeInForce: DURATIONS[duration] }
  if (kind === 'multileg') {
    const type = form.member('type', valuesOf(MULTI_LEG_TYPES))
    const limitPrice = type === 'market' ? null : type === 'even' ? ZERO : positive(form, 'price')
    const direction = type === 'credit' ? 'SELL' : 'BUY'
    const ticket = { ...common, orderType: type === 'market' ? 'MKT' : 'LMT', limitPrice, side: direction, ...unitsOf(form) } as const
    return { ticket, symbols: ticket.legs.map(({ symbol }) => symbol), duration, side: null }
  }
  const orderType = TYPES[form.member('type', valuesOf(TYPES))]
  if (duration !== 'day' && duration !== 'gtc' && orderType !== 'LMT') bad('type', `must be limit for duration ${duration}`)
  const side = kind === 'equity' ? form.member('side', valuesOf(SHARE_SIDES)) : null
  const symbol = kind === 'equity' ? fromTradier(form.text('symbol')) : form.text('option_symbol')
  const ticket: Ticket = {
    ...{ ...common, orderType, symbol, quantity: count(form, 'quantity'), notional: null },
    side: side === null ? OPTION_SIDES[form.member('side', valuesOf(OPTION_SIDES))] : SHARE_SIDES[side],
    limitPrice: orderType.startsWith('STP') === (orderType === 'STPLMT') && orderType !== 'MKT' ? positive(form, 'price') : null,
    stopPrice: orderType.startsWith('STP') ? positive(form, 'stop') : null
  }
  return { ticket, symbols: [symbol], duration, side }
}

/** Legs have quantities; the sandbox has multi-leg orders and what one contains. */
function unitsOf(form: Body) {
  const named = Array.from({ length: LEGS_MAX }, (_, nth) => nth).filter(nth => form.has(`option_symbol[${nth}]`))
  if (named.length < 2) bad('option_symbol', 'two legs at least, from [0] on')
  if (form.has(`option_symbol[${LEGS_MAX}]`)) bad('option_symbol', `at most ${LEGS_MAX} legs`)
  const quantities = named.map(nth => BigInt(count(form, `quantity[${nth}]`)))
  const units = quantities.reduce(commonDivisor)
  const legs = named.map((nth, index) => ({
    symbol: form.text(`option_symbol[${nth}]`),
    side: OPTION_SIDES[form.member(`side[${nth}]`, valuesOf(OPTION_SIDES))],
    ratio: String((quantities[index] ?? units) / units)
  }))
  return { quantity: String(units), legs }
}

/** A price above zero. @throws Problem */
export function positive(form: Body, name: string): Decimal {
  const read = (text: string) => (isDecimal(text) && isPositive(text) ? text : undefined)
  return form.readOr(name, 'must be a number greater than zero', read) ?? bad(name, 'is required')
}

function count(form: Body, name: string): string {
  return String(form.countOr(name, 1, QUANTITY_MAX) ?? bad(name, 'is required'))
}

/** Orders for the sessions before and after are taken while these go on, and always in a market that never closes. @throws Problem */
function mustBeInTime({ market, clock, contracts }: BrokerageView, { duration, symbols: [symbol = ''] }: Wanted): void {
  if (duration === 'day' || duration === 'gtc' || contracts.find(symbol)?.hours === 'always') return
  if (market.phaseAt('us-equity', clock.now()).phase !== duration) bad('duration', `${duration} market no longer available`)
}

/** What is wrong with an order of shares, held against the position and what is ordered already, in Tradier's words; empty: nothing. */
function brokenRule({ state: { engine } }: BrokerageView, { id, kind }: Account, { ticket, side }: Wanted): readonly string[] {
  if (!('symbol' in ticket)) return []
  const { symbol, orderType, timeInForce, quantity } = ticket
  const isGtc = timeInForce === 'GTC'
  const position = decimal(engine.position(id, symbol)?.quantity ?? '0')
  const held = compare(position, ZERO)
  const working = engine.orders(id, { live: true, symbols: [symbol] }).filter(order => order.legs === null && order.side === ticket.side)
  const left = minus(absolute(position), sum(working.map(order => decimal(order.remainingQuantity))))
  const isMore = compare(decimal(quantity ?? '0'), left) > 0
  const isCheap = compare(decimal(engine.market(symbol)?.mark ?? '0'), SHORT_PRICE_LEAST) < 0
  const barred = (name: string, condition: string) => `${name} order cannot be placed ${condition} position, please check open orders.`
  const uncovered = barred('Buy to cover', 'unless you are closing a short')
  const unheld = barred('Sell', 'unless you are closing a long')
  const rules: readonly (readonly [side: string | null, isBroken: boolean, ...words: readonly string[]])[] = [
    [side, orderType === 'MKT' && isGtc, 'Market orders cannot be GTC.', 'MarketOrderIsGtc'],
    ['buy', held < 0, barred('Buy', 'while you hold a short'), 'UnexpectedBuyOrder'],
    ['buy_to_cover', held >= 0, uncovered, 'UnexpectedBuyToCoverOrder'],
    ['buy_to_cover', isMore, uncovered, 'ShortPositionCrossZero'],
    ['sell', held <= 0, unheld],
    ['sell', isMore, unheld, 'LongPositionCrossZero'],
    ['sell_short', kind !== 'margin', 'Short selling needs a margin account.', 'ShortStockTradingDeniedForAccount'],
    ['sell_short', held > 0, barred('Sell short', 'while you hold a long'), 'UnexpectedSellShortOrder'],
    ['sell_short', isGtc, 'Short sales cannot be GTC.', 'ShortOrderIsGtc'],
    ['sell_short', isCheap, 'Shares below $5 cannot be sold short.', 'SellShortOrderLastPriceBelow5']
  ]
  const [, , ...words] = rules.find(([of, isBroken]) => of === side && isBroken) ?? [null, false]
  return words
}
