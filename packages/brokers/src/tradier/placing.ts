/**
 * What Tradier does not accept although its capabilities offer it, refused before anything is sent; and the values of an order that depend on the hour and
 * on what is held. Pure.
 */

import { dateAtInstant, type TradingCalendar } from '@trunkline/core/domain/calendar/index'
import {
  absolute,
  areEqual,
  canonical,
  commonDivisor,
  compare,
  type Decimal,
  isPositive,
  isZero,
  negated,
  parseDecimal,
  significantPlaces,
  ZERO
} from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { RejectCode } from '@trunkline/core/domain/vocabulary'
import type { OrderReport } from '@trunkline/core/ports/broker'
import type { Placing } from './requests.ts'

/** The display message, and its reject code. */
export interface Refusal {
  readonly refused: string
  readonly rejectCode: RejectCode
}

const QUANTITY_MAX = parseDecimal('10000000', 'the largest quantity')
const ONE = parseDecimal('1', 'one')
/** Minutes after midnight in New York between which Tradier takes orders for a session outside the regular one. */
const SESSIONS = { pre: { from: 4 * 60, until: 9 * 60 + 24 }, post: { from: 16 * 60, until: 19 * 60 + 55 } } as const
const ZONE = 'America/New_York'
/** Below a dollar prices have four places. */
const PLACES = { usual: 2, small: 4 } as const

/** What is wrong with a ticket whatever is held; null when nothing is. */
export function refusalOf(ticket: OrderTicket): Refusal | null {
  const { instrument, type, tif, side, quantity, limitPrice, stopPrice, legs } = ticket
  if (quantity === null || !/^\d+(?:\.0+)?$/.test(quantity) || !isPositive(quantity))
    return refused('quantity_invalid', 'order_qty must be a whole number; fractions and orders by amount are not taken')
  if (compare(quantity, QUANTITY_MAX) > 0) return refused('quantity_invalid', `order_qty must be at most ${QUANTITY_MAX}`)
  if (type === 'MKT' && tif === 'GTC') return refused('not_permitted', 'a market order cannot be GTC: send it as DAY, or as LMT')
  if (tif === 'DAY+' && type !== 'LMT') return refused('not_permitted', 'an order outside the regular session must be LMT')
  for (const [field, price] of [
    ['order_limit_price', limitPrice],
    ['stop_price', stopPrice]
  ] as const)
    if (price !== null && significantPlaces(price) > (compare(absolute(price), ONE) < 0 ? PLACES.small : PLACES.usual))
      return refused('tick_size', `${field} has too many decimal places: two are taken, and four below a dollar`)
  if (legs === null) return null
  if (limitPrice !== null && !isPositive(limitPrice) && !isZero(limitPrice))
    return refused(
      'price_out_of_range',
      `a multi-leg order's order_limit_price is never negative: ${side === 'BUY' ? 'SELL it to receive a credit' : 'BUY it to pay a debit'}, with the positive price`
    )
  if (legs.map(leg => BigInt(leg.ratio)).reduce(commonDivisor) !== 1n)
    return refused('quantity_invalid', 'the ratios of the legs must be in their lowest terms: put the multiple in order_qty')
  return instrument === 'MLEG_OPT' ? null : refused('not_permitted', 'only options have legs')
}

/** Tradier's time in force; for DAY+ the session under way, because it accepts no orders for another. */
export function durationOf({ tif }: OrderTicket, atMs: number, calendar: TradingCalendar): string | Refusal {
  if (tif === 'DAY') return 'day'
  if (tif === 'GTC') return 'gtc'
  const minute = minuteOfDay(atMs)
  const phase = calendar.isTradingDay(dateAtInstant(atMs, ZONE)) ? calendar.phaseAt(atMs) : 'closed'
  for (const session of ['pre', 'post'] as const)
    if (phase === session && minute >= SESSIONS[session].from && minute < SESSIONS[session].until) return session
  return refused(
    'market_closed',
    'DAY+ is taken from 4:00 to 9:24 and from 16:00 to 19:55 New York time on trading days, for the session that is on then; send DAY for the regular one'
  )
}

/** Tradier's side for buying or selling shares, by the position. Nothing crosses from long to short in one order. */
export function shareSide({ side, quantity, tif, symbol }: OrderTicket, position: Decimal): string | Refusal {
  const requested = quantity ?? ZERO
  // Tradier writes eight places of everything.
  const held = canonical(position)
  const isLong = isPositive(held)
  const isShort = !isLong && !isZero(held)
  if (side === 'BUY' && isShort) {
    if (compare(requested, negated(held)) <= 0) return 'buy_to_cover'
    return crossing(
      `${negated(held)} ${symbol} are short, and ${requested} would turn them long: buy ${negated(held)} to cover and the rest with a second order`
    )
  }
  if (side === 'BUY') return 'buy'
  if (isLong) {
    if (compare(requested, held) <= 0) return 'sell'
    return crossing(
      `${held} ${symbol} are held, and selling ${requested} would turn them short: sell ${held} and the rest with a second order`
    )
  }
  return tif === 'GTC' ? refused('not_permitted', 'a short sale cannot be GTC: send it as DAY') : 'sell_short'
}

/** Whether the requested terms can be reached by changing the order: not its quantity, side or contracts, nor the session it is for. */
export function changeRefusal(order: OrderReport, ticket: OrderTicket): Refusal | null {
  if (!areEqual(order.quantity, ticket.quantity)) return cannot('the quantity', `${order.quantity}`)
  if (order.symbol !== ticket.symbol || order.instrument !== ticket.instrument) return cannot('the symbol', `${order.symbol}`)
  // Of a multi-leg order without a debit or a credit Tradier does not send the side; that of its legs is compared below.
  const isSideReported = order.legs === null || (order.limitPrice !== null && !isZero(order.limitPrice))
  if (isSideReported && order.side !== ticket.side) return cannot('the side', order.side)
  if ((order.tif === 'DAY+') !== (ticket.tif === 'DAY+')) return cannot('the session', order.tif)
  const legs = (of: OrderTicket) => of.legs?.map(({ symbol, side, ratio }) => `${side} ${ratio} ${symbol}`).join() ?? ''
  return legs(order) === legs(ticket) ? null : cannot('the legs', 'as they were placed')
}

export function isRefusal(value: string | Refusal | Placing): value is Refusal {
  return typeof value === 'object' && 'refused' in value
}

function cannot(what: string, was: string): Refusal {
  return refused(
    'not_permitted',
    `${what} of an order cannot be changed, was ${was}: only its type, time in force and prices can; cancel it and place another`
  )
}

function crossing(reason: string): Refusal {
  return refused('insufficient_position', `one order cannot go through zero: ${reason}`)
}

function refused(rejectCode: RejectCode, reason: string): Refusal {
  return { refused: `Tradier does not take it: ${reason}.`, rejectCode }
}

function minuteOfDay(atMs: number): number {
  const { hour, minute } = Temporal.Instant.fromEpochMilliseconds(Math.floor(atMs)).toZonedDateTimeISO(ZONE)
  return hour * 60 + minute
}
