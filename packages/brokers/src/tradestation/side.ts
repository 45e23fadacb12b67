/** Which of the broker's four actions a BUY or SELL of shares is, by what is held. Pure. */

import { absolute, compare, type Decimal, isPositive, isZero } from '@trunkline/core/domain/decimal'

/** `held` is negative when sold short. */
export type Action = { readonly action: 'BUY' | 'SELL' | 'BUYTOCOVER' | 'SELLSHORT' } | { readonly refusal: string }

export function actionOf(side: 'BUY' | 'SELL', quantity: Decimal, symbol: string, held: Decimal): Action {
  if (isZero(held)) return { action: side === 'BUY' ? 'BUY' : 'SELLSHORT' }
  const isLong = isPositive(held)
  if (isLong === (side === 'BUY')) return { action: isLong ? 'BUY' : 'SELLSHORT' }
  if (compare(quantity, absolute(held)) <= 0) return { action: isLong ? 'SELL' : 'BUYTOCOVER' }
  const [now, then] = isLong ? ['long', 'short'] : ['short', 'long']
  const amount = absolute(held)
  return {
    refusal: `The account is ${now} ${amount} ${symbol}, and TradeStation takes no order from ${now} to ${then}: send one ${side} order of ${amount}, and another for the rest once it is filled.`
  }
}
