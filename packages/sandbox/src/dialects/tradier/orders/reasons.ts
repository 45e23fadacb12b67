/** Why an order is refused, in Tradier's codes, and whether at once or after acceptance. */

import type { OrderReason } from '../../frame/brokerage.ts'

interface Reason {
  /** Null: the sandbox's message alone. */
  readonly code: string | null
  /** At once: no such order ever was. Else it is taken, and turned down a moment later. */
  readonly isAtOnce: boolean
}

const AT_ONCE: { readonly [Code in OrderReason]?: string } = {
  instrument_not_permitted: 'AssetTradingNotConfiguredForAccount',
  unknown_symbol: 'SecurityUndefined',
  expired_contract: 'InvalidOrderExpiration',
  bad_legs: 'IncorrectOrderQuantity',
  unsupported_side: 'OrderWithDifferentSide',
  unsupported_time_in_force: 'IncorrectTimeInForce',
  bad_quantity: 'IncorrectOrderQuantity',
  bad_price: 'OrderPriceIsInvalid',
  bad_tick: 'OrderPriceIsInvalid',
  insufficient_buying_power: 'InitialMargin',
  insufficient_cash: 'InitialMargin',
  insufficient_position: 'LongPositionCrossZero',
  short_sale_not_allowed: 'ShortStockTradingDeniedForAccount'
}

const LATER: { readonly [Code in OrderReason]?: string } = {
  price_out_of_band: 'QuotePriceIsInvalid',
  no_price: 'QuotePriceIsInvalid',
  market_closed: 'TradingDeniedForSecurity',
  halted: 'TradingDeniedForSecurity'
}

export function reasonOf(code: string): Reason {
  const [now, later] = [find(AT_ONCE, code), find(LATER, code)]
  return now === undefined ? { code: later ?? null, isAtOnce: false } : { code: now, isAtOnce: true }
}

/** The messages of a refusal: for money the back office's, for everything else a message and its code. */
export function errorsOf(code: string, message: string): readonly string[] {
  const { code: reasonCode } = reasonOf(code)
  if (reasonCode === 'InitialMargin') return ['Backoffice rejected override of the order.', reasonCode]
  return reasonCode === null ? [message] : [message, reasonCode]
}

function find(table: { readonly [Code in OrderReason]?: string }, code: string): string | undefined {
  return Object.entries(table).find(([name]) => name === code)?.[1]
}
