/** Orders at Alpaca: what it takes, how it is written, and which answers prove what. Everything else is unknown. Pure but for look-ups. */

import type { OrderOffer } from '@trunkline/core/domain/combinations'
import { areEqual, compare, type Decimal, isPositive, isZero, minus, plus, significantPlaces, ZERO } from '@trunkline/core/domain/decimal'
import type { Leg, OrderTicket } from '@trunkline/core/domain/order'
import { epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { NewOrder, OrderReport, Outcome, ReplaceOrder } from '@trunkline/core/ports/broker'
import { isSuccess } from '../kit/calls.ts'
import { ALL_TYPES, OPTION_SIDES, REGULAR, SIDES, TERMS } from '../kit/capabilities.ts'
import type { HttpReply, HttpRequest } from '../kit/http.ts'
import { legTexts, type Refusal, refusalBy, refusing } from '../kit/order-rules.ts'
import { demandOurs, type Wire } from '../kit/parse.ts'
import { INTERNAL_FAILURE } from '../kit/reject-code.ts'
import { get, json, remove } from '../kit/requests.ts'
import type { OpenLogin, OrderDefinitions, ReadDefinitions, Refused } from '../kit/runtime/definition.ts'
import type { AccountQuery, ListRead } from '../kit/runtime/read-definitions.ts'
import { mergedOrders, pagesByRecord, type Reads } from '../kit/runtime/reads.ts'
import { refused, undecided } from '../kit/settle.ts'
import {
  isLegOfMultiLeg,
  isMultiLeg,
  netPrice,
  ORDER_SIDES,
  ORDER_TYPES,
  POSITION_INTENTS,
  parseOrder,
  parseOrders,
  rejectCodeOf,
  TIME_IN_FORCE
} from './codecs.ts'
import { isInvalidOrderId, isNotFound, type Resource, readError, readList, readRecord } from './quirks.ts'

/** Which orders Alpaca takes. */
export const ORDER_OFFER = {
  name: 'Alpaca',
  instruments: ['STK', 'OPT', 'MLEG_OPT', 'CRYPTO'],
  orderTypes: { STK: ALL_TYPES, OPT: ['MKT', 'LMT'], MLEG_OPT: ['MKT', 'LMT'], CRYPTO: ['MKT', 'LMT', 'STPLMT'] },
  timesInForce: { STK: [...REGULAR, 'OPEN', 'CLOSE', 'DAY+', 'GTC+'], OPT: ['DAY'], MLEG_OPT: ['DAY'], CRYPTO: ['GTC', 'IOC'] },
  sides: { STK: SIDES, OPT: OPTION_SIDES, MLEG_OPT: SIDES, CRYPTO: SIDES },
  exclusions: [
    // The extended hours are for limit orders only.
    { types: ['MKT', 'STP', 'STPLMT'], tifs: ['DAY+', 'GTC+'] },
    // A stop waits for its price, and takes part in no auction.
    { types: ['STP', 'STPLMT'], tifs: ['IOC', 'FOK', 'OPEN', 'CLOSE'] },
    { instruments: ['STK'], tifs: ['GTC', 'IOC', 'FOK', 'OPEN', 'CLOSE', 'GTC+'], sizes: ['fraction', 'notional'] }
  ],
  onlyInSession: ['IOC', 'FOK'],
  extendedHours: 'with_regular',
  replaceFields: { STK: TERMS, OPT: TERMS, MLEG_OPT: ['order_qty', 'order_limit_price'], CRYPTO: TERMS },
  notional: true,
  fractional: true
} as const satisfies OrderOffer

const cannot = refusing(ORDER_OFFER.name)
const refusalByRules = refusalBy(ORDER_OFFER, {
  amountPlaces: 9,
  pricePlaces: {
    STK: { usual: 2, belowOne: 4 },
    OPT: { usual: 2, belowOne: 2 },
    MLEG_OPT: { usual: 2, belowOne: 2 },
    CRYPTO: { usual: 9, belowOne: 9 }
  },
  legs: { lowestTerms: false, negativePrice: true }
})

/** Why Alpaca would refuse the order, and what it takes; null when nothing is known against it. */
export function refusalOf(ticket: OrderTicket): Refusal | null {
  const { side, legs } = ticket
  // Alpaca has no side for a multi-leg order, so it must show in a leg.
  if (legs !== null && !legs.some(leg => leg.side.startsWith(side)))
    return cannot(
      'not_permitted',
      side === 'BUY'
        ? 'an order whose legs all sell is a SELL: send side SELL, with the price as what is received'
        : 'an order whose legs all buy is a BUY: send side BUY, with the price as what is paid'
    )
  return refusalByRules(ticket)
}

/** Pages of a list; beyond it the list is a fault, never cut short. */
export const PAGES_MAX = 400
export const ORDERS_PAGE = 500
/** Alpaca's clock may be this far ahead of ours: orders submitted that much earlier are requested as well. */
const CLOCKS_APART_MS = 5_000

/** What a list of orders is requested by. */
interface OrderListQuery extends AccountQuery {
  readonly status: 'open' | 'all'
  /** Whether orders that hang on others are inside of these; otherwise each is a row of its own. */
  readonly isNested: boolean
  /** Time of submission. */
  readonly after: Timestamp | null
}

const OPEN = { status: 'open', after: null } as const

/**
 * Alpaca does not say whether orders inside of others count for the limit of a page: a page that would be full with them may have been cut.
 */
function rowsOf({ legs }: Wire): number {
  return 1 + (Array.isArray(legs) ? legs.length : 0)
}

/** The orders submitted after `after`, oldest first. An order and those that hang on it come together. */
export const ORDERS: ListRead<Resource, OrderListQuery, readonly OrderReport[]> = {
  resource: 'trading',
  request: ({ status, isNested, after }, last) =>
    get('/v2/orders', {
      ...{ status, limit: String(ORDERS_PAGE), direction: 'asc', nested: String(isNested) },
      // Alpaca takes one of the two. Whatever comes after an order comes after the time as well.
      after: last === null ? after : null,
      after_order_id: last
    }),
  page: pagesByRecord(ORDERS_PAGE, 'id', readList, rowsOf),
  pagesMax: PAGES_MAX,
  items: (records, { account, isNested }, { readable }) => {
    // Without nesting a multi-leg order and its legs are rows apart, of which none is the order.
    const orders = isNested ? records : records.filter(record => !isMultiLeg(record) && !isLegOfMultiLeg(record))
    return readable('orders', orders, record => parseOrders(record, account), 'id')
  }
}

/** Single orders that are open, whatever they hang on. @throws BrokerFault */
export async function openOrders(reads: Reads<Resource>, account: string, signal: AbortSignal): Promise<readonly OrderReport[]> {
  return (await reads.list(ORDERS, { ...OPEN, account, isNested: false }, signal)).known.flat()
}

/** How orders are read. */
export const ORDER_READS: Pick<ReadDefinitions<Resource>, 'orders' | 'orderList' | 'order'> = {
  /**
   * The open ones first, nested and not: nested, an exit is inside of its entry, and missing once the entry has filled. Then those
   * submitted since, so that an order that ends in between is seen ended. An order submitted before `since` that ended after it is in no
   * list: Alpaca cannot list changes. A look-up finds it.
   */
  async orders({ reads }, { account, since }, signal) {
    const after = timestampOfMs(Math.max(0, epochMs(since) - CLOCKS_APART_MS))
    const read = async (query: Omit<OrderListQuery, 'account'>) => {
      const { known, ...rest } = await reads.list(ORDERS, { account, ...query }, signal)
      return { known: known.flat(), ...rest }
    }
    const nested = await read({ ...OPEN, isNested: true })
    const open = await read({ ...OPEN, isNested: false })
    return mergedOrders(nested, open, await read({ status: 'all', after, isNested: true }))
  },
  orderList: null,
  order: {
    resource: 'trading',
    requests: key => [
      key.by === 'brokerOrderId'
        ? get(`/v2/orders/${encodeURIComponent(key.brokerOrderId)}`, { nested: 'true' })
        : get('/v2/orders:by_client_order_id', { client_order_id: key.brokerClOrdId, nested: 'true' })
    ],
    priority: 'order',
    also: [404, 422],
    absent: (reply, { by }) => isNotFound(reply) || (by === 'brokerOrderId' && isInvalidOrderId(reply)),
    records: reply => [readRecord(reply)],
    item: (record, account) => parseOrder(record, account),
    decidedBy: ({ status, replacesBrokerOrderId }) => (status === 'pending' ? replacesBrokerOrderId : null)
  }
}

/** Before each look at whether the old order has given way. */
const REPLACE_PAUSES_MS = [0, 200, 800]

export const ALPACA_ORDERS: OrderDefinitions<Resource, null> = {
  resource: 'trading',
  placing(order) {
    const refusal = refusalOf(order)
    return refusal === null ? null : Promise.resolve({ refused: refusal })
  },
  submit: { request: submitRequest, interpret: interpretSubmit },
  /**
   * A success means that a new order was created; it replaces the old one later, or is rejected because the old one filled first. And the
   * new order begins with nothing filled, so it is requested for what is left.
   */
  replace: {
    async request(request, { orders }, signal) {
      const { brokerAccountId, brokerOrderId, ticket } = request
      if (ticket.notional !== null)
        return { refused: cannot('quantity_invalid', 'orders by amount cannot be replaced; cancel it and place a new one') }
      const refusal = refusalOf(ticket)
      if (refusal !== null) return { refused: refusal }
      // Without it what is left is unknown, and the whole total again may be too much.
      const quantity = quantityFor(request, await orders.order(brokerAccountId, brokerOrderId, signal))
      return isRefused(quantity) ? quantity : replaceRequest(brokerOrderId, { ...request, quantity })
    },
    interpret: interpretReplace,
    confirm: { pausesMs: REPLACE_PAUSES_MS, look: lookAtReplacement }
  },
  cancel: {
    request: (_account, order) => remove(`/v2/orders/${encodeURIComponent(order)}`),
    interpret: interpretCancel
  },
  preview: null
}

/** @throws Malformed for a value that Alpaca does not have. */
export function submitRequest(order: NewOrder): HttpRequest {
  const { type, tif, brokerClOrdId } = order
  const isExtended = tif === 'DAY+' || tif === 'GTC+'
  return json('POST', '/v2/orders', {
    ...subject(order),
    type: ORDER_TYPES.write(type, 'order_type'),
    time_in_force: TIME_IN_FORCE.write(isExtended ? tif.slice(0, -1) : tif, 'order_tif'),
    ...(isExtended ? { extended_hours: true } : {}),
    ...amounts(order),
    client_order_id: brokerClOrdId
  })
}

/** `quantity` is that of the new order; null leaves it as it is. */
export function replaceRequest(
  brokerOrderId: string,
  { ticket, quantity, brokerClOrdId }: { readonly ticket: OrderTicket; readonly quantity: Decimal | null; readonly brokerClOrdId: string }
): HttpRequest {
  const path = `/v2/orders/${encodeURIComponent(brokerOrderId)}`
  return json('PATCH', path, { ...amounts({ ...ticket, quantity, notional: null }), client_order_id: brokerClOrdId })
}

/** A multi-leg order has legs and no side; an option's side states its effect on the position. */
function subject({ symbol, side, instrument, legs }: OrderTicket): object {
  if (legs !== null) return { order_class: 'mleg', legs: legsOf(legs, side).map(leg => ({ ...option(leg), ratio_qty: leg.ratio })) }
  if (instrument === 'OPT') return option({ symbol, side })
  return { symbol, side: ORDER_SIDES.write(side, 'side') }
}

function option({ symbol, side }: Pick<OrderTicket, 'symbol' | 'side'>): object {
  const intent = POSITION_INTENTS.write(side, 'side')
  return { symbol, side: intent.startsWith('buy') ? 'buy' : 'sell', position_intent: intent }
}

/** A multi-leg order is read back as bought when its first leg is: the leg that shows this comes first. */
function legsOf(legs: readonly Leg[], side: OrderTicket['side']): readonly Leg[] {
  const at = legs.findIndex(leg => leg.side.startsWith(side))
  const first = legs[at]
  return first === undefined || at === 0 ? legs : [first, ...legs.toSpliced(at, 1)]
}

/** What is null is left out. */
function amounts({ quantity, notional, limitPrice, stopPrice, legs, side }: OrderTicket): object {
  return {
    ...(quantity === null ? {} : { qty: quantity }),
    ...(notional === null ? {} : { notional }),
    ...(limitPrice === null ? {} : { limit_price: legs === null ? limitPrice : netPrice(limitPrice, side) }),
    ...(stopPrice === null ? {} : { stop_price: stopPrice })
  }
}

/** What is left of the new total; null where it equals the old order's quantity and can stay out of the request. */
function quantityFor(request: ReplaceOrder, old: OrderReport): Decimal | null | Refused {
  const { ticket } = request
  const quantity = lesser(ticket.quantity, old.quantity, request.totalChange)
  if (quantity === null) return null
  const filled = old.filledTotal?.quantity ?? ZERO
  if (isZero(filled) && areEqual(old.quantity, quantity)) return null
  const left = minus(quantity, filled)
  if (!isPositive(left)) return { refused: cannot('quantity_invalid', 'as much as the new total, or more, has filled already') }
  if (ticket.instrument !== 'STK' || significantPlaces(left) === 0) return left
  return {
    refused: cannot(
      'quantity_invalid',
      'the quantity of an order of fractions of a share cannot be replaced; cancel it and place a new one'
    )
  }
}

/**
 * What the new order may be for with what the old one has filled. An execution of an order before the old one may not be reported yet, and
 * would be requested again; the old order's own quantity is without it.
 */
function lesser(requested: Decimal | null, old: Decimal | null, totalChange: Decimal | undefined): Decimal | null {
  if (requested === null || old === null || totalChange === undefined) return requested
  const shown = plus(old, totalChange)
  return compare(shown, requested) < 0 ? shown : requested
}

function isRefused(value: Decimal | null | Refused): value is Refused {
  return typeof value === 'object' && value !== null
}

/** Whether the new order has replaced the old one. */
async function lookAtReplacement(
  { brokerAccountId, brokerOrderId }: ReplaceOrder,
  made: OrderReport | null,
  { orders }: Pick<OpenLogin<Resource>, 'orders'>,
  signal: AbortSignal
): Promise<Outcome<OrderReport> | null> {
  if (made === null) return null
  const find = async (id: string) => (await orders.find({ by: 'brokerOrderId', brokerAccountId, brokerOrderId: id }, signal)).found
  const old = await find(brokerOrderId)
  if (old?.status === 'replaced') return { kind: 'accepted', value: made }
  if (old?.status === 'pending_replace') return null
  const now = await find(made.brokerOrderId)
  if (now?.status !== 'rejected') return null
  return refused(`Alpaca did not replace the order: it is ${old?.brokerStatus ?? 'gone'}.`, 'other', now.brokerStatus)
}

/** Statuses that mean "not done" when Alpaca's own error comes with them. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 404, 422, 429])
/**
 * Alpaca has an order with our client order id: the one we sent, for no other client derives the same id. Look it up, never call it
 * refused. Its code is that of other refusals as well, so the message decides.
 */
const DUPLICATE = /client.?order.?id must be unique/i

export function interpretSubmit(reply: HttpReply, sent: NewOrder): Outcome<OrderReport> {
  if (!isSuccess(reply.status)) return refusal(reply, sent)
  const order = parseOrder(readRecord(reply), sent.brokerAccountId)
  demandOurs('client_order_id', order.brokerClOrdId, sent.brokerClOrdId)
  demandOurs('symbol', order.symbol, sent.symbol)
  // In whatever order they come.
  demandOurs('legs', legTexts(order).toSorted().join(), legTexts(sent).toSorted().join())
  return { kind: 'accepted', value: order }
}

export function interpretReplace(reply: HttpReply, sent: ReplaceOrder): Outcome<OrderReport> {
  if (!isSuccess(reply.status)) return refusal(reply, sent.ticket)
  const order = parseOrder(readRecord(reply), sent.brokerAccountId)
  demandOurs('client_order_id', order.brokerClOrdId, sent.brokerClOrdId)
  demandOurs('replaces', order.replacesBrokerOrderId, sent.brokerOrderId)
  return { kind: 'accepted', value: order }
}

/** Only "no content" means that Alpaca accepted the request; the result is reported by the stream. */
export function interpretCancel(reply: HttpReply): Outcome<null> {
  if (!isSuccess(reply.status)) return refusal(reply, null)
  if (reply.status === 204 && reply.body === '') return { kind: 'accepted', value: null }
  return undecided(`Alpaca answered ${reply.status} to a cancel`)
}

function refusal<T>(reply: HttpReply, sent: OrderTicket | null): Outcome<T> {
  const { message, code } = readError(reply)
  const isRefusal = REFUSALS.has(reply.status) && !DUPLICATE.test(message) && !INTERNAL_FAILURE.test(message)
  if (isRefusal) return refused(message, rejectCodeOf(message, sent), code)
  return undecided(`Alpaca answered ${reply.status}: ${message}`)
}
