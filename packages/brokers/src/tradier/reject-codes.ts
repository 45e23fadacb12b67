/** Tradier's codes of rejections beside the core's, from its registry of error codes. Where it sends a sentence, a code in it or its wording decides. */

import type { RejectCode } from '@trunkline/core/domain/vocabulary'
import { lookUp } from '../kit/parse.ts'
import { rejectCodeOf as byPattern, type RejectPatterns } from '../kit/reject-code.ts'

const CODES = {
  AccountDisabled: 'not_permitted',
  AccountIsNotApproved: 'not_permitted',
  UserDisabled: 'not_permitted',
  TradingDeniedForAccount: 'not_permitted',
  OrderIsNotAllowedForAccount: 'not_permitted',
  AssetTradingNotConfiguredForAccount: 'not_permitted',
  OptionLevelRestriction: 'not_permitted',
  LongOptionTradingDeniedForAccount: 'not_permitted',
  ShortOptionTradingDeniedForAccount: 'not_permitted',
  SpreadTradingDeniedForAccount: 'not_permitted',
  ShortStockTradingDeniedForAccount: 'not_permitted',
  TradeNonStandardOptions: 'not_permitted',
  IncorrectTimeInForce: 'not_permitted',
  MarketOrderIsGtc: 'not_permitted',
  ShortOrderIsGtc: 'not_permitted',
  InitialMargin: 'insufficient_funds',
  TotalInitialMargin: 'insufficient_funds',
  MaintenanceMargin: 'insufficient_funds',
  DayTradingBuyingPowerExceeded: 'insufficient_funds',
  TooSmallEquityForDayTrading: 'insufficient_funds',
  AccountMarginRuleViolation: 'risk_rejected',
  DayTraderPatternRestriction: 'risk_rejected',
  WashTradeAttempt: 'risk_rejected',
  SellShortOrderLastPriceBelow5: 'risk_rejected',
  // The side does not fit what is held.
  UnexpectedBuyOrder: 'insufficient_position',
  UnexpectedBuyOrderOption: 'insufficient_position',
  UnexpectedBuyToCoverOrder: 'insufficient_position',
  UnexpectedBuyToCoverOrderOption: 'insufficient_position',
  UnexpectedSellOrder: 'insufficient_position',
  UnexpectedSellOrderOption: 'insufficient_position',
  UnexpectedSellShortOrder: 'insufficient_position',
  UnexpectedSellShortOrderOption: 'insufficient_position',
  LongPositionCrossZero: 'insufficient_position',
  ShortPositionCrossZero: 'insufficient_position',
  LimitPriceUndefined: 'price_out_of_range',
  StopPriceUndefined: 'price_out_of_range',
  OrderPriceIsInvalid: 'price_out_of_range',
  QuotePriceIsInvalid: 'price_out_of_range',
  BuyStopOrderStopPriceLessAsk: 'price_out_of_range',
  SellStopOrderStopPriceGreaterBid: 'price_out_of_range',
  IncorrectOrderQuantity: 'quantity_invalid',
  OrderQuantity: 'quantity_invalid',
  SecurityUndefined: 'unknown_symbol',
  ExpirationDateUndefined: 'unknown_symbol',
  StrikePriceUndefined: 'unknown_symbol',
  OptionTypeUndefined: 'unknown_symbol',
  InvalidOrderExpiration: 'not_tradable',
  ShortTradingDeniedForSecurity: 'not_tradable',
  TradingDeniedForSecurity: 'not_tradable'
} as const satisfies Readonly<Record<string, RejectCode>>

/** What has no code in the registry. */
const PATTERNS: RejectPatterns = [
  [/buying power/i, 'insufficient_funds'],
  [/pre-?market .*unavailable|market is closed|outside .*(?:market|trading) hours/i, 'market_closed'],
  [/price.?range|too aggressive|too far (?:through|from) the market/i, 'price_out_of_range'],
  [/only margin accounts may sell short/i, 'insufficient_position'],
  [/too[ _]many[ _]open[ _]orders|open orders, as many as/i, 'risk_rejected']
]

export function rejectCodeOf(reason: string): RejectCode {
  for (const [candidate] of reason.matchAll(/[A-Za-z]\w{4,63}/g)) {
    const code = lookUp<RejectCode>(CODES, candidate)
    if (code !== undefined) return code
  }
  return byPattern(reason, PATTERNS)
}
