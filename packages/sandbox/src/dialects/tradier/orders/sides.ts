/** The four sides of a share order, held against the position and what is ordered already. */

import { type AccountKind, type OrderView, type PositionView, readScaled } from '../../frame/brokerage.ts'
import type { SingleForm } from './form.ts'

export interface Stand {
  readonly kind: AccountKind
  readonly position: PositionView | undefined
  /** Live orders of the symbol. */
  readonly working: readonly OrderView[]
  /** The last price; null before there is one. */
  readonly last: string | null
}

const SELL_MESSAGE = 'Sell order cannot be placed unless you are closing a long position, please check open orders.'
const BUY_TO_COVER_MESSAGE = 'Buy to cover order cannot be placed unless you are closing a short position, please check open orders.'
const SELL_SHORT_MESSAGE = 'Sell short order cannot be placed while you hold a long position, please check open orders.'
const BUY_MESSAGE = 'Buy order cannot be placed while you hold a short position, please check open orders.'
const SHORT_PRICE_LEAST = 5_000_000_000n

/** What is wrong with the side, in Tradier's messages and codes; null where it is valid. */
export function sideProblem(
  { equitySide, quantity, duration, orderType }: SingleForm,
  { kind, position, working, last }: Stand
): readonly string[] | null {
  if (orderType === 'MKT' && duration === 'gtc') return ['Market orders cannot be GTC.', 'MarketOrderIsGtc']
  if (equitySide === null) return null
  const held = scaled(position?.quantity ?? '0')
  const wanted = BigInt(quantity) * 1_000_000_000n
  switch (equitySide) {
    case 'buy':
      return held < 0n ? [BUY_MESSAGE, 'UnexpectedBuyOrder'] : null
    case 'buy_to_cover':
      if (held >= 0n) return [BUY_TO_COVER_MESSAGE, 'UnexpectedBuyToCoverOrder']
      return wanted > -held - open(working, 'BUY') ? [BUY_TO_COVER_MESSAGE, 'ShortPositionCrossZero'] : null
    case 'sell':
      if (held <= 0n) return [SELL_MESSAGE]
      return wanted > held - open(working, 'SELL') ? [SELL_MESSAGE, 'LongPositionCrossZero'] : null
    case 'sell_short':
      if (kind !== 'margin') return ['Short selling needs a margin account.', 'ShortStockTradingDeniedForAccount']
      if (held > 0n) return [SELL_SHORT_MESSAGE, 'UnexpectedSellShortOrder']
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
