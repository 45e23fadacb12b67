/** The side of an order of shares at brokers that require it to state its effect on the position. Pure. */

import { canonical, compare, type Decimal, isPositive, isZero, negated } from '@trunkline/core/domain/decimal'

export type ShareSide = 'buy' | 'buy_to_cover' | 'sell' | 'sell_short'

/** One order cannot close a position and open the opposite one. `crossing` says which part closes it. */
export type ShareSideFound = { readonly side: ShareSide } | { readonly crossing: string }

/** `position` is negative when short. */
export function shareSideOf(side: 'BUY' | 'SELL', quantity: Decimal, symbol: string, position: Decimal): ShareSideFound {
  const held = canonical(position)
  const isLong = isPositive(held)
  if (side === 'BUY') {
    if (isLong || isZero(held)) return { side: 'buy' }
    const short = negated(held)
    if (compare(quantity, short) <= 0) return { side: 'buy_to_cover' }
    return {
      crossing: `${short} ${symbol} are short, and ${quantity} would turn them long: buy ${short} to cover and the rest with a second order`
    }
  }
  if (!isLong) return { side: 'sell_short' }
  if (compare(quantity, held) <= 0) return { side: 'sell' }
  return {
    crossing: `${held} ${symbol} are held, and selling ${quantity} would turn them short: sell ${held} and the rest with a second order`
  }
}
