/** The four sides of a share order, held against the position and what is ordered already. */

import type { OrderView, PositionView } from '../../../engine/types.ts'
import { readScaled } from '../../../engine/units.ts'
import type { AccountKind } from '../../../house/people.ts'
import type { SingleForm } from './form.ts'

export interface Stand {
  readonly kind: AccountKind
  readonly position: PositionView | undefined
  /** Live orders of the symbol. */
  readonly working: readonly OrderView[]
  /** The last price; null before there is one. */
  readonly last: string | null
}

const SELL_WORDS = 'Sell order cannot be placed unless you are closing a long position, please check open orders.'
const COVER_WORDS = 'Buy to cover order cannot be placed unless you are closing a short position, please check open orders.'
const SHORT_WORDS = 'Sell short order cannot be placed while you hold a long position, please check open orders.'
const BUY_WORDS = 'Buy order cannot be placed while you hold a short position, please check open orders.'
const SHORT_PRICE_LEAST = 5_000_000_000n

/** What is wrong with the side, in Tradier's words and codes; null where it suits. */
export function sideTrouble(
  { equitySide, quantity, duration, orderType }: SingleForm,
  { kind, position, working, last }: Stand
): readonly string[] | null {
  if (orderType === 'MKT' && duration === 'gtc') return ['Market orders cannot be GTC.', 'MarketOrderIsGtc']
  if (equitySide === null) return null
  const held = scaled(position?.quantity ?? '0')
  const wanted = BigInt(quantity) * 1_000_000_000n
  switch (equitySide) {
    case 'buy':
      return held < 0n ? [BUY_WORDS, 'UnexpectedBuyOrder'] : null
    case 'buy_to_cover':
      if (held >= 0n) return [COVER_WORDS, 'UnexpectedBuyToCoverOrder']
      return wanted > -held - open(working, 'BUY') ? [COVER_WORDS, 'ShortPositionCrossZero'] : null
    case 'sell':
      if (held <= 0n) return [SELL_WORDS]
      return wanted > held - open(working, 'SELL') ? [SELL_WORDS, 'LongPositionCrossZero'] : null
    case 'sell_short':
      if (kind !== 'margin') return ['Short selling needs a margin account.', 'ShortStockTradingDeniedForAccount']
      if (held > 0n) return [SHORT_WORDS, 'UnexpectedSellShortOrder']
      if (duration === 'gtc') return ['Short sales cannot be GTC.', 'ShortOrderIsGtc']
      return scaled(last ?? '0') < SHORT_PRICE_LEAST ? ['Shares below $5 cannot be sold short.', 'SellShortOrderLastPriceBelow5'] : null
  }
}

function open(working: readonly OrderView[], side: 'BUY' | 'SELL'): bigint {
  return working.filter(order => order.side === side).reduce((sum, order) => sum + scaled(order.remainingQuantity), 0n)
}

function scaled(text: string): bigint {
  return readScaled(text) ?? 0n
}
