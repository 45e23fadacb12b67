/** Combinations that Alpaca does not accept although each value is valid: refused before anything is sent. Pure. */

import { compare, type Decimal, parseDecimal, significantPlaces } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { RejectCode } from '@trunkline/core/domain/vocabulary'

const AMOUNT_PLACES = 9
const ONE = parseDecimal('1', 'one')

/** The display message, and its reject code. */
export interface Refusal {
  readonly message: string
  readonly rejectCode: RejectCode
}

/** Why Alpaca would refuse the order, and what it takes; null when nothing is known against it. */
export function refusalOf(ticket: OrderTicket): Refusal | null {
  const { instrument, type, tif, quantity, notional } = ticket
  const isExtended = tif === 'DAY+' || tif === 'GTC+'
  if (isExtended && type !== 'LMT') return refused('not_permitted', `Alpaca takes ${tif} for limit orders only (LMT), not for ${type}.`)
  if (instrument === 'STK') {
    if ((tif === 'OPEN' || tif === 'CLOSE') && type !== 'MKT' && type !== 'LMT')
      return refused('not_permitted', `Alpaca takes market and limit orders into the auctions (${tif}), not ${type}.`)
    if (notional !== null && tif !== 'DAY') return refused('not_permitted', 'Alpaca takes orders by amount for the day only (DAY).')
    if (quantity !== null && isFraction(quantity) && tif !== 'DAY' && tif !== 'DAY+')
      return refused('not_permitted', `Alpaca takes fractions of a share for the day only (DAY), not with ${tif}; send whole shares.`)
  }
  if (instrument === 'OPT' || instrument === 'MLEG_OPT') {
    if (notional !== null) return refused('quantity_invalid', 'Alpaca takes no orders of options by amount; send order_qty.')
    if (quantity !== null && isFraction(quantity)) return refused('quantity_invalid', `Alpaca takes whole contracts only, not ${quantity}.`)
  }
  return sideRefusal(ticket) ?? amountRefusal(ticket) ?? priceRefusal(ticket)
}

/** Why Alpaca would not replace the order; null when nothing is known against it. */
export function replaceRefusalOf(ticket: OrderTicket): Refusal | null {
  if (ticket.notional !== null) return refused('quantity_invalid', 'Alpaca cannot replace orders by amount; cancel it and place a new one.')
  return amountRefusal(ticket) ?? priceRefusal(ticket)
}

/** Alpaca has no side for a multi-leg order, so it must show in a leg. */
function sideRefusal({ legs, side }: OrderTicket): Refusal | null {
  if (legs === null || legs.some(leg => leg.side.startsWith(side))) return null
  const other = side === 'BUY' ? 'SELL' : 'BUY'
  return refused(
    'not_permitted',
    `An order whose legs all ${other.toLowerCase()} is a ${other} at Alpaca: send side ${other}, with the price as what is ${other === 'SELL' ? 'received' : 'paid'}.`
  )
}

function amountRefusal({ quantity, notional }: OrderTicket): Refusal | null {
  const amount = quantity ?? notional
  return amount !== null && significantPlaces(amount) > AMOUNT_PLACES
    ? refused('quantity_invalid', `Alpaca takes amounts with at most ${AMOUNT_PLACES} decimal places, not ${amount}.`)
    : null
}

function priceRefusal({ instrument, limitPrice, stopPrice }: OrderTicket): Refusal | null {
  for (const price of [limitPrice, stopPrice]) {
    const most = price === null ? null : placesMax(instrument, price)
    if (price !== null && most !== null && significantPlaces(price) > most)
      return refused('tick_size', `Alpaca takes prices such as ${price} with at most ${most} decimal places.`)
  }
  return null
}

function placesMax(instrument: OrderTicket['instrument'], price: Decimal): number | null {
  if (instrument === 'CRYPTO') return 9
  return instrument === 'STK' && compare(price, ONE) < 0 ? 4 : 2
}

export function isFraction(quantity: Decimal): boolean {
  return significantPlaces(quantity) > 0
}

function refused(rejectCode: RejectCode, message: string): Refusal {
  return { message, rejectCode }
}
