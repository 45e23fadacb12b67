/** Enum maps of orders, both ways. */

import type { OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { OrderState } from '../../frame/brokerage.ts'

export const EQUITY_SIDES = { buy: 'BUY', buy_to_cover: 'BUY', sell: 'SELL', sell_short: 'SELL' } as const satisfies Record<string, Side>
export type EquitySide = keyof typeof EQUITY_SIDES

export const OPTION_SIDES = {
  buy_to_open: 'BUY_TO_OPEN',
  buy_to_close: 'BUY_TO_CLOSE',
  sell_to_open: 'SELL_TO_OPEN',
  sell_to_close: 'SELL_TO_CLOSE'
} as const satisfies Record<string, Side>

export const TYPES = { market: 'MKT', limit: 'LMT', stop: 'STP', stop_limit: 'STPLMT' } as const satisfies Record<string, OrderType>
export const MULTI_LEG_TYPES = { market: 'MKT', debit: 'LMT', credit: 'LMT', even: 'LMT' } as const satisfies Record<string, OrderType>
export type MultiLegPriceType = keyof typeof MULTI_LEG_TYPES

/** The sandbox's extended day is as near as it comes to Tradier's sessions before and after. */
export const DURATIONS = { day: 'DAY', gtc: 'GTC', pre: 'DAY+', post: 'DAY+' } as const satisfies Record<string, TimeInForce>

export const SIDE_OF: Record<Side, string> = {
  BUY: 'buy',
  SELL: 'sell',
  BUY_TO_OPEN: 'buy_to_open',
  BUY_TO_CLOSE: 'buy_to_close',
  SELL_TO_OPEN: 'sell_to_open',
  SELL_TO_CLOSE: 'sell_to_close'
}

export const TYPE_OF: Record<OrderType, string> = { MKT: 'market', LMT: 'limit', STP: 'stop', STPLMT: 'stop_limit' }

/** Orders of other dialects can have a time in force that Tradier does not have. */
export const DURATION_OF: Record<TimeInForce, string> = {
  DAY: 'day',
  GTC: 'gtc',
  IOC: 'day',
  FOK: 'day',
  OPEN: 'day',
  CLOSE: 'day',
  'DAY+': 'day',
  'GTC+': 'gtc'
}

export const STATUS_OF: Record<OrderState, string> = {
  held: 'open',
  open: 'open',
  partial: 'partially_filled',
  filled: 'filled',
  canceled: 'canceled',
  expired: 'expired',
  rejected: 'rejected',
  // An order whose amendment the state has forgotten: it can only have ended.
  replaced: 'canceled'
}

/** `BUY` with a net price that is paid is a debit; what is received is a credit from either side. */
export function multiLegTypeOf(side: Side, limit: string | null): MultiLegPriceType {
  if (limit === null) return 'market'
  if (Number(limit) === 0) return 'even'
  return (side === 'BUY') === !limit.startsWith('-') ? 'debit' : 'credit'
}

/** The net price as the state want it for that side. */
export function netPrice(type: MultiLegPriceType, price: string, side: 'BUY' | 'SELL'): string {
  if (type === 'even') return '0'
  return (type === 'debit') === (side === 'BUY') ? price : `-${price}`
}
