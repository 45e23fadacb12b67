/** A broker's order rules as data: what it would refuse although the ticket is valid, refused before anything is sent. Pure. */

import { type OrderOffer, unsupportedPart } from '@trunkline/core/domain/combinations'
import {
  absolute,
  areEqual,
  canonical,
  commonDivisor,
  compare,
  type Decimal,
  isPositive,
  isZero,
  parseDecimal,
  significantPlaces
} from '@trunkline/core/domain/decimal'
import type { Leg, OrderTicket } from '@trunkline/core/domain/order'
import type { Instrument, RejectCode } from '@trunkline/core/domain/vocabulary'
import type { OrderReport } from '@trunkline/core/ports/broker'

/** Why an order is not sent: a message for the user that says what is possible, and its reject code. */
export interface Refusal {
  readonly message: string
  readonly rejectCode: RejectCode
}

export interface OrderRules {
  /** Largest quantity. */
  readonly quantityMax?: Decimal
  /** Most decimal places of a quantity, or of an amount of money. */
  readonly amountPlaces?: number
  /** Most decimal places of a price, and of one below 1; an absent instrument has no such rule. */
  readonly pricePlaces: { readonly [instrument in Instrument]?: { readonly usual: number; readonly belowOne: number } }
  /** Of multi-leg orders: whether ratios must be in lowest terms, and whether the price may be negative. */
  readonly legs: { readonly lowestTerms: boolean; readonly negativePrice: boolean }
}

const ONE = parseDecimal('1', 'one')
/** The parts of an order as the API names them. */
const FIELDS = { instrument: 'instrument', type: 'order_type', tif: 'order_tif', side: 'order_side', size: 'order_qty' } as const

/** The refusal by what a broker takes and its rules; null when nothing is known against the order. */
export function refusalBy(offer: OrderOffer, rules: OrderRules): (ticket: OrderTicket) => Refusal | null {
  const refused = refusing(offer.name)
  return ticket => {
    const { instrument, type, tif, side, quantity, notional, limitPrice, legs } = ticket
    if (quantity === null ? !offer.notional : !offer.fractional && !isWhole(quantity))
      return refused('quantity_invalid', 'order_qty must be a whole number; fractions and orders by amount are not taken')
    if (quantity !== null && !isPositive(quantity)) return refused('quantity_invalid', 'order_qty must be positive')
    if (quantity !== null && rules.quantityMax !== undefined && compare(quantity, rules.quantityMax) > 0)
      return refused('quantity_invalid', `order_qty must be at most ${rules.quantityMax}`)
    const amount = quantity ?? notional
    if (rules.amountPlaces !== undefined && amount !== null && significantPlaces(amount) > rules.amountPlaces)
      return refused('quantity_invalid', `an amount has at most ${rules.amountPlaces} decimal places, was ${amount}`)
    const size = notional !== null ? 'notional' : quantity !== null && !isWhole(quantity) ? 'fraction' : 'whole'
    const unsupported = unsupportedPart(offer, { instrument, type, tif, side, size })
    if (unsupported !== null)
      return refused(
        unsupported.part === 'size' ? 'quantity_invalid' : 'not_permitted',
        `${FIELDS[unsupported.part]} ${unsupported.requested} is not taken with the rest of the order, only ${unsupported.offered.join(', ') || 'none'}`
      )
    const tick = tickRefusal(ticket, rules, refused)
    if (tick !== null || legs === null) return tick
    if (!rules.legs.negativePrice && limitPrice !== null && !isPositive(limitPrice) && !isZero(limitPrice))
      return refused(
        'price_out_of_range',
        `a multi-leg order's order_limit_price is never negative: ${side === 'BUY' ? 'SELL it to receive a credit' : 'BUY it to pay a debit'}, with the positive price`
      )
    return rules.legs.lowestTerms && !isInLowestTerms(legs)
      ? refused('quantity_invalid', 'the ratios of the legs must be in their lowest terms: put the multiple in order_qty')
      : null
  }
}

/**
 * Why an order cannot be changed to these terms at a broker that changes type, time in force and prices only; null when it can. An order
 * for another session (DAY+) is another order.
 */
export function changeRefusalBy(broker: string): (order: OrderReport, ticket: OrderTicket) => Refusal | null {
  const refused = refusing(broker)
  const cannot = (what: string, was: string) =>
    refused(
      'not_permitted',
      `${what} of an order cannot be changed, was ${was}: only its type, time in force and prices can; cancel it and place another`
    )
  return (order, ticket) => {
    if (!areEqual(order.quantity, ticket.quantity)) return cannot('the quantity', `${order.quantity}`)
    if (order.symbol !== ticket.symbol || order.instrument !== ticket.instrument) return cannot('the symbol', `${order.symbol}`)
    // A multi-leg order without a debit or a credit has no side; that of its legs is compared below.
    const hasSide = order.legs === null || (order.limitPrice !== null && !isZero(order.limitPrice))
    if (hasSide && order.side !== ticket.side) return cannot('the side', order.side)
    if ((order.tif === 'DAY+') !== (ticket.tif === 'DAY+')) return cannot('the session', order.tif)
    return legTexts(order).join() === legTexts(ticket).join() ? null : cannot('the legs', 'as they were placed')
  }
}

/** Whether the ratios of legs are in lowest terms: otherwise the order may be reported back with a larger quantity and smaller ratios. */
export function isInLowestTerms(legs: readonly Pick<Leg, 'ratio'>[]): boolean {
  return legs.map(({ ratio }) => BigInt(canonical(ratio))).reduce(commonDivisor, 0n) === 1n
}

/** Whether a changed order has the new terms. */
export function hasTerms(order: OrderReport, { type, tif, limitPrice, stopPrice }: OrderTicket): boolean {
  return order.type === type && order.tif === tif && areEqual(order.limitPrice, limitPrice) && areEqual(order.stopPrice, stopPrice)
}

/** What is done with which contract, so that two orders of the same legs have the same texts. */
export function legTexts({ legs }: OrderTicket): readonly string[] {
  return legs?.map(({ symbol, side, ratio }) => `${side} ${ratio} ${symbol}`) ?? []
}

/** Refusals of one broker, by name. `reason` continues "… does not take it: ". */
export function refusing(broker: string): (rejectCode: RejectCode, reason: string) => Refusal {
  return (rejectCode, reason) => ({ message: `${broker} does not take it: ${reason}.`, rejectCode })
}

function tickRefusal(
  { instrument, limitPrice, stopPrice }: OrderTicket,
  { pricePlaces }: OrderRules,
  refused: ReturnType<typeof refusing>
): Refusal | null {
  const places = pricePlaces[instrument]
  if (places === undefined) return null
  for (const [field, price] of [
    ['order_limit_price', limitPrice],
    ['stop_price', stopPrice]
  ] as const) {
    if (price === null) continue
    const most = compare(absolute(price), ONE) < 0 ? places.belowOne : places.usual
    if (significantPlaces(price) > most) return refused('tick_size', `${field} ${price} has more than ${most} decimal places`)
  }
  return null
}

function isWhole(quantity: Decimal): boolean {
  return significantPlaces(quantity) === 0
}
