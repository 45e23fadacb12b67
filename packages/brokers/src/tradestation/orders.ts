/** Orders at TradeStation: what it takes, its requests, and which answers prove what. Everything else is unknown. Pure. */

import type { OrderOffer } from '@trunkline/core/domain/combinations'
import { areEqual, canonical, type Decimal, isDecimal, negated, times, ZERO } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { RejectCode } from '@trunkline/core/domain/vocabulary'
import type { BrokerAccount, NewOrder, OrderReport, Outcome, PositionReport, ReplaceOrder } from '@trunkline/core/ports/broker'
import { NOTHING_ESTIMATED, type OrderEstimate, type PreviewOrder } from '@trunkline/core/ports/preview'
import { ALL_TYPES, OPTION_SIDES, REGULAR, SIDES, TERMS } from '../kit/capabilities.ts'
import type { HttpReply, HttpRequest } from '../kit/http.ts'
import { readObject } from '../kit/json.ts'
import { acceptedReport } from '../kit/order-merge.ts'
import { isInLowestTerms } from '../kit/order-rules.ts'
import { demandOurs, displayTextOrNull, field, text, textOrNull, type Wire } from '../kit/parse.ts'
import { demandNoOrder, signedCost } from '../kit/preview.ts'
import { INTERNAL_FAILURE } from '../kit/reject-code.ts'
import { get, json, remove } from '../kit/requests.ts'
import { shownOrder, shownTerms } from '../kit/runtime/commands.ts'
import type { OpenLogin, OrderDefinitions, Refused } from '../kit/runtime/definition.ts'
import { KnownAccounts } from '../kit/runtime/known-accounts.ts'
import { perLogin } from '../kit/runtime/per-login.ts'
import type { AccountQuery, ListRead } from '../kit/runtime/read-definitions.ts'
import { SharedReads } from '../kit/runtime/shared-reads.ts'
import { undecided } from '../kit/settle.ts'
import { shareSideOf } from '../kit/share-side.ts'
import { readSummed, summedPositions } from '../kit/summed-positions.ts'
import { ORDER_TYPES, POSITION_EFFECTS, parseAccount, parsePosition, rejectCodeOf, TIME_IN_FORCE } from './codecs.ts'
import {
  accountPath,
  amount,
  type BrokerError,
  errorOf,
  errorsOf,
  isError,
  ownRecords,
  type Resource,
  records,
  wholeAnswer
} from './quirks.ts'
import { brokerSymbol } from './symbols.ts'

/** Which orders TradeStation takes. */
export const ORDER_OFFER = {
  name: 'TradeStation',
  instruments: ['STK', 'OPT', 'MLEG_OPT', 'FUT'],
  orderTypes: { STK: ALL_TYPES, OPT: ALL_TYPES, MLEG_OPT: ['MKT', 'LMT'], FUT: ALL_TYPES },
  // But for shares neither auctions nor extended hours.
  timesInForce: { STK: [...REGULAR, 'OPEN', 'CLOSE', 'DAY+', 'GTC+'], OPT: REGULAR, MLEG_OPT: ['DAY', 'GTC'], FUT: REGULAR },
  sides: { STK: SIDES, OPT: OPTION_SIDES, MLEG_OPT: SIDES, FUT: SIDES },
  exclusions: [
    // Outside the regular hours a price is required.
    { types: ['MKT', 'STP'], tifs: ['DAY+', 'GTC+'] },
    // A stop waits for its price, and takes part in no auction.
    { types: ['STP', 'STPLMT'], tifs: ['IOC', 'FOK', 'OPEN', 'CLOSE'] }
  ],
  onlyInSession: ['IOC', 'FOK'],
  extendedHours: 'with_regular',
  // The size of a multi-leg order is that of its legs, which cannot be changed.
  replaceFields: { STK: TERMS, OPT: TERMS, MLEG_OPT: ['order_limit_price'], FUT: TERMS },
  notional: false,
  fractional: false
} as const satisfies OrderOffer

/** Accounts that one stream may have. */
const STREAMED_MAX = 25

export const ACCOUNTS: ListRead<Resource, null, BrokerAccount> = {
  resource: 'accounts',
  request: () => get('/brokerage/accounts'),
  page: reply => ({ records: records(wholeAnswer(reply), 'Accounts'), next: null }),
  items: (accounts, _query, { readable }) => readable('accounts', accounts, parseAccount, 'AccountID')
}

export const POSITIONS: ListRead<Resource, AccountQuery, PositionReport> = {
  resource: 'positions',
  request: ({ account }) => get(`${accountPath(account)}/positions`),
  page: reply => ({ records: [wholeAnswer(reply)], next: null }),
  items([answer], { account }, { readable }) {
    const found = answer === undefined ? [] : ownRecords(answer, 'Positions', account)
    const rows = { symbolKey: 'Symbol', idKey: 'PositionID', row: parsePosition, sum: summedPositions }
    const { known, leftOut } = readSummed(readable, found, rows)
    return { known: known.flat(), leftOut }
  }
}

/** What a login keeps: its accounts, and the positions that orders wait for. */
export const stateOf = perLogin(({ reads, clock, log }: OpenLogin<Resource>) => ({
  accounts: new KnownAccounts({ read: signal => reads.list(ACCOUNTS, null, signal), streamedMax: STREAMED_MAX, log }),
  // An order of shares says whether it opens or closes, so the position is read before it.
  holdings: new SharedReads({ clock, read: (account, signal) => reads.listStrictly(POSITIONS, { account }, signal, 'order') })
}))

/** A replaced order is read after each of these pauses, until it has the new terms: the broker only forwards the request. */
const REPLACED_AFTER_MS = [0, 150, 500]
/** Previews have an address of their own, where nothing is placed. */
const PREVIEW_PATH = '/orderexecution/orderconfirm'

/** The broker's action of shares and futures; null where the order itself states it. */
export type Action = string | null

export const TRADESTATION_ORDERS: OrderDefinitions<Resource, Action> = {
  resource: 'commands',
  async placing(order, login, kind, signal) {
    const { instrument, legs, side, brokerAccountId: account } = order
    if (legs !== null && !isInLowestTerms(legs))
      return refused(
        'TradeStation counts contracts of legs: state the ratios in lowest terms, and the rest as the order’s quantity.',
        'quantity_invalid'
      )
    if (instrument !== 'STK') return instrument === 'FUT' ? side : null
    const positions =
      kind === 'order' ? await stateOf(login).holdings.now(account, signal) : await login.reads.list(POSITIONS, { account }, signal)
    return actionOf(order, positions.known.find(each => each.symbol === order.symbol && each.instrument === 'STK')?.quantity ?? ZERO)
  },
  submit: { request: (order, action) => written(() => submitRequest(order, action)), interpret: interpretSubmit },
  replace: {
    async request(request, login, signal) {
      if (request.ticket.legs !== null && !(await hasSize(request, login, signal)))
        return refused('TradeStation does not change the size of a multi-leg order: cancel it and send a new one.', 'not_permitted')
      return written(() => replaceRequest(request))
    },
    interpret: (reply, { brokerOrderId }) => interpretChange(reply, brokerOrderId, 'replace'),
    confirm: shownTerms(REPLACED_AFTER_MS, hasTerms)
  },
  cancel: {
    request: (_account, order) => remove(orderPath(order)),
    interpret: (reply, order) => interpretChange(reply, order, 'cancel')
  },
  preview: {
    request: (order, action) => written(() => previewRequest(order, action)),
    isPreview: ({ path }) => path === PREVIEW_PATH,
    interpret: interpretPreview
  }
}

const ACTIONS = { buy: 'BUY', buy_to_cover: 'BUYTOCOVER', sell: 'SELL', sell_short: 'SELLSHORT' } as const

/** TradeStation requires a sale of shares to state whether it closes a position. */
export function actionOf({ side, quantity, symbol }: OrderTicket, position: Decimal): string | Refused {
  if (symbol === null || quantity === null || (side !== 'BUY' && side !== 'SELL'))
    return refused('An order of shares needs a symbol, a quantity, and BUY or SELL.', 'not_permitted')
  const found = shareSideOf(side, quantity, symbol, position)
  return 'side' in found
    ? ACTIONS[found.side]
    : refused(`TradeStation takes no order through zero: ${found.crossing}.`, 'insufficient_position')
}

/** Whether a multi-leg order has the quantity of its new ticket; true as well where it is not known. */
async function hasSize(request: ReplaceOrder, login: OpenLogin<Resource>, signal: AbortSignal): Promise<boolean> {
  const { quantity } = request.ticket
  const size = (await shownOrder(request, login, signal))?.quantity ?? null
  return size === null || quantity === null || areEqual(size, quantity)
}

/** What cannot be expressed in the broker's API is refused with the reason, and not sent. */
function written(build: () => HttpRequest): HttpRequest | Refused {
  try {
    return build()
  } catch (cause) {
    return refused(cause instanceof Error ? cause.message : 'the order cannot be expressed in the broker’s API', 'not_permitted')
  }
}

function refused(message: string, rejectCode: RejectCode): Refused {
  return { refused: { message, rejectCode } }
}

/** @throws Malformed */
export function submitRequest(order: NewOrder, action: Action): HttpRequest {
  return json('POST', '/orderexecution/orders', { ...terms(order, action), OrderConfirmID: order.brokerClOrdId })
}

/** Without an id, so that it is no order anywhere. @throws Malformed */
export function previewRequest(order: PreviewOrder, action: Action): HttpRequest {
  return json('POST', PREVIEW_PATH, terms(order, action))
}

function terms(order: PreviewOrder, action: Action): object {
  return {
    AccountID: order.brokerAccountId,
    ...subject(order, action),
    OrderType: ORDER_TYPES.write(order.type, 'type'),
    TimeInForce: { Duration: TIME_IN_FORCE.write(order.tif, 'tif') },
    ...prices(order),
    Route: 'Intelligent'
  }
}

/** Price, stop and quantity, which is the total. The type of an order can change to a market order only, which has no price. */
export function replaceRequest({ brokerOrderId, ticket }: ReplaceOrder): HttpRequest {
  const quantity = ticket.legs === null && ticket.quantity !== null ? { Quantity: canonical(ticket.quantity) } : {}
  return json('PUT', orderPath(brokerOrderId), { ...quantity, ...(ticket.type === 'MKT' ? { OrderType: 'Market' } : prices(ticket)) })
}

/** The broker writes order ids with dashes in places, and takes them without. */
function orderPath(brokerOrderId: string): string {
  return `/orderexecution/orders/${encodeURIComponent(brokerOrderId.replaceAll('-', ''))}`
}

function subject({ symbol, instrument, side, quantity, legs }: OrderTicket, action: Action): object {
  if (quantity === null) throw new Malformed('order_qty', 'a quantity', quantity)
  if (legs === null) {
    if (symbol === null) throw new Malformed('symbol', 'a symbol', symbol)
    return {
      Symbol: brokerSymbol(symbol, instrument),
      Quantity: canonical(quantity),
      TradeAction: action ?? POSITION_EFFECTS.write(side, 'side')
    }
  }
  return {
    Legs: legs.map(leg => ({
      Symbol: brokerSymbol(leg.symbol, 'OPT'),
      Quantity: canonical(times(quantity, leg.ratio)),
      TradeAction: POSITION_EFFECTS.write(leg.side, 'side')
    }))
  }
}

/** The price of a multi-leg order is its net cost: positive is paid, negative is received. */
function prices(ticket: OrderTicket): object {
  const limit = netOf(ticket)
  return { ...(limit === null ? {} : { LimitPrice: limit }), ...(ticket.stopPrice === null ? {} : { StopPrice: ticket.stopPrice }) }
}

function netOf({ limitPrice, legs, side }: OrderTicket): Decimal | null {
  return limitPrice !== null && legs !== null && side === 'SELL' ? negated(limitPrice) : limitPrice
}

/** Whether an order that keeps its id has the requested terms. */
export function hasTerms(found: OrderTicket, requested: OrderTicket): boolean {
  return (
    found.type === requested.type &&
    areEqual(found.quantity, requested.quantity) &&
    areEqual(netOf(found), netOf(requested)) &&
    areEqual(found.stopPrice, requested.stopPrice)
  )
}

/** Statuses that mean "not done", each with the messages it may carry. */
const REFUSALS: { readonly [status: number]: readonly string[] } = {
  // The broker refuses inside a success too, so the error decides and not the status.
  200: ['FAILED'],
  400: ['BadRequest', 'FAILED'],
  401: ['Unauthorized'],
  403: ['Forbidden', 'FAILED'],
  404: ['NotFound', 'FAILED'],
  429: ['TooManyRequests']
}

/** How the second use of a confirm id is answered is not documented: any answer about it may be about the order that was accepted. */
const DUPLICATE_CONFIRM_ID = /duplicate|confirm ?id/i
/** A second cancel requests what is happening already. */
const IS_UNDER_WAY = /cancel\w* (?:request )?(?:is |has been )?(?:already|pending|in progress|under way)|already .*cancel/i
const BOILERPLATE = /^Order failed\. Reason: */

export function interpretSubmit(reply: HttpReply, sent: NewOrder, at: Timestamp): Outcome<OrderReport> {
  const answer = readObject(reply.body)
  const taken = field(answer, 'Orders') === undefined ? [] : records(answer, 'Orders')
  const failed = failuresIn(answer, taken)
  const [order] = taken
  if (reply.status === 200 && taken.length === 1 && order !== undefined && failed.length === 0)
    return { kind: 'accepted', value: sentReport(sent, text(order, 'OrderID', 64), at) }
  if (taken.some(each => !isError(each)) || failed.some(({ message }) => DUPLICATE_CONFIRM_ID.test(message)))
    return undecided('the broker’s answer names an order and a failure')
  return refusal(reply.status, failed)
}

/** Of a cancel or a replacement: the broker says that it has forwarded it, and no more. */
export function interpretChange(reply: HttpReply, brokerOrderId: string, kind: 'cancel' | 'replace'): Outcome<null> {
  const answer = readObject(reply.body)
  const failed = errorsOrSelf(answer)
  if (reply.status === 200 && failed.length === 0) {
    demandOurs('OrderID', text(answer, 'OrderID', 64).replaceAll('-', ''), brokerOrderId.replaceAll('-', ''))
    return { kind: 'accepted', value: null }
  }
  const isUnderWay = kind === 'cancel' && failed.some(({ message }) => IS_UNDER_WAY.test(message))
  return isUnderWay ? { kind: 'accepted', value: null } : refusal(reply.status, failed)
}

/** Only what the broker marks as a refusal is one. */
function refusal<T>(status: number, errors: readonly BrokerError[]): Outcome<T> {
  const codes = REFUSALS[status]
  const [first] = errors
  if (first === undefined || codes === undefined || !errors.every(error => codes.includes(error.code)))
    return undecided(`the broker answered ${status} ${first?.code ?? 'without its own error'}`)
  if (errors.some(({ message }) => INTERNAL_FAILURE.test(message)))
    return undecided(`the broker reports an internal failure: ${first.message}`)
  const message = first.message.replace(BOILERPLATE, '') || first.message
  return { kind: 'refused', message, rejectCode: rejectCodeOf(message), brokerStatus: first.code }
}

/** Errors beside the records, or an answer that is an error itself. */
function errorsOrSelf(answer: Wire): readonly BrokerError[] {
  return isError(answer) ? [errorOf(answer)] : errorsOf(answer)
}

/** Some errors stand among the records instead of beside them. */
function failuresIn(answer: Wire, found: readonly Wire[]): readonly BrokerError[] {
  return [...errorsOrSelf(answer), ...found.filter(isError).map(errorOf)]
}

/** @throws PreviewPlaced for an answer that names an order */
export function interpretPreview(reply: HttpReply, requested: PreviewOrder): Outcome<OrderEstimate> {
  const answer = readObject(reply.body)
  const found = listed(answer, 'Confirmations')
  for (const wire of [answer, ...found, ...listed(answer, 'Orders'), ...listed(answer, 'Errors')]) demandNoOrder(wire, 'OrderID')
  const failed = failuresIn(answer, found)
  const [one] = found
  if (reply.status !== 200 || found.length !== 1 || one === undefined || failed.length > 0) {
    if (found.some(wire => !isError(wire))) return undecided('the broker’s answer confirms an order and names a failure')
    return refusal(reply.status, failed)
  }
  const account = textOrNull(one, 'AccountID')
  if (account !== null) demandOurs('AccountID', account, requested.brokerAccountId)
  return { kind: 'accepted', value: estimateOf(one, requested) }
}

/** The broker writes costs without a sign, and what it writes with one has been recorded of short sales only. */
function estimateOf(wire: Wire, requested: OrderTicket): OrderEstimate {
  const currency = displayTextOrNull(wire, 'Currency', 8)
  const price = amount(wire, 'EstimatedPrice')
  return {
    ...NOTHING_ESTIMATED,
    currency,
    price: price !== null && requested.legs !== null && requested.side === 'SELL' ? negated(price) : price,
    // Of a future it is the margin: nothing is paid for the contract.
    cost: requested.instrument === 'FUT' ? null : signedCost(requested, amount(wire, 'EstimatedCost')),
    commission: amount(wire, 'EstimatedCommission'),
    initialMargin: displayed(displayTextOrNull(wire, 'InitialMarginDisplay', 64), currency)
  }
}

const DISPLAY = /^(-?[\d,]+(?:\.\d+)?)(?: ([A-Z]{3}))?$/

/** `10,315.00 USD`, a display text; null for any other form, or is in another currency. */
function displayed(text: string | null, currency: string | null): Decimal | null {
  const [, digits = '', of = currency] = DISPLAY.exec(text ?? '') ?? []
  const plain = digits.replaceAll(',', '')
  return of === currency && isDecimal(plain) ? plain : null
}

function listed(answer: Wire, key: string): readonly Wire[] {
  return field(answer, key) === undefined || field(answer, key) === null ? [] : records(answer, key)
}

/** The broker gives an order's id and no more. "Taken" means forwarded, and a rejection may follow; our id is never reported back. */
function sentReport(sent: NewOrder, brokerOrderId: string, at: Timestamp): OrderReport {
  const brokerOrderType = ORDER_TYPES.write(sent.type, 'type')
  return { ...acceptedReport(sent, brokerOrderId, 'OPN', at), brokerClOrdId: null, brokerOrderType, filledTotal: null }
}
