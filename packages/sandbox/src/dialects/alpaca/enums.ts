/** Alpaca's enum values and the sandbox's. */

import type { OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { InstrumentKind, OrderState } from '../frame/brokerage.ts'

export const TYPES = { market: 'MKT', limit: 'LMT', stop: 'STP', stop_limit: 'STPLMT' } as const satisfies Record<string, OrderType>
export type AlpacaOrderType = keyof typeof TYPES
export const TYPE_OF: Record<OrderType, AlpacaOrderType> = { MKT: 'market', LMT: 'limit', STP: 'stop', STPLMT: 'stop_limit' }

export const TIME_IN_FORCE = {
  day: 'DAY',
  gtc: 'GTC',
  opg: 'OPEN',
  cls: 'CLOSE',
  ioc: 'IOC',
  fok: 'FOK'
} as const satisfies Record<string, TimeInForce>
export type AlpacaTimeInForce = keyof typeof TIME_IN_FORCE
export const TIME_IN_FORCE_OF: Record<TimeInForce, AlpacaTimeInForce> = {
  DAY: 'day',
  GTC: 'gtc',
  OPEN: 'opg',
  CLOSE: 'cls',
  IOC: 'ioc',
  FOK: 'fok',
  'DAY+': 'day',
  'GTC+': 'gtc'
}
/** With the extended hours. */
export const EXTENDED = { DAY: 'DAY+', GTC: 'GTC+' } as const

export const INTENTS = {
  buy_to_open: 'BUY_TO_OPEN',
  buy_to_close: 'BUY_TO_CLOSE',
  sell_to_open: 'SELL_TO_OPEN',
  sell_to_close: 'SELL_TO_CLOSE'
} as const satisfies Record<string, Side>
export type PositionIntent = keyof typeof INTENTS

/** Null for shares and crypto. */
export const INTENT_OF: Record<Side, PositionIntent | null> = {
  BUY: null,
  SELL: null,
  BUY_TO_OPEN: 'buy_to_open',
  BUY_TO_CLOSE: 'buy_to_close',
  SELL_TO_OPEN: 'sell_to_open',
  SELL_TO_CLOSE: 'sell_to_close'
}

/** Futures are not Alpaca's; its accounts never hold any. */
export const CLASS_OF: Record<InstrumentKind, string> = { STK: 'us_equity', OPT: 'us_option', CRYPTO: 'crypto', FUT: 'future' }

export const STATUS_OF: Record<OrderState, string> = {
  held: 'new',
  open: 'new',
  partial: 'partially_filled',
  filled: 'filled',
  canceled: 'canceled',
  expired: 'expired',
  rejected: 'rejected',
  replaced: 'replaced'
}

/** Positions of crypto are named without the slash that orders have. */
export function positionSymbol(symbol: string): string {
  return symbol.replace('/', '')
}

export function valuesOf<Table extends object>(table: Table): readonly (keyof Table & string)[] {
  return Object.keys(table) as (keyof Table & string)[]
}
