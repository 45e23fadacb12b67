/** The enums of the API, spelled as on the wire, so that no layer translates them. */

export const SIDES = ['BUY', 'SELL', 'BUY_TO_OPEN', 'SELL_TO_OPEN', 'BUY_TO_CLOSE', 'SELL_TO_CLOSE'] as const
export type Side = (typeof SIDES)[number]

export const ORDER_TYPES = ['MKT', 'LMT', 'STP', 'STPLMT'] as const
export type OrderType = (typeof ORDER_TYPES)[number]

/** `DAY+` and `GTC+` include the extended hours. */
export const TIMES_IN_FORCE = ['DAY', 'GTC', 'IOC', 'FOK', 'OPEN', 'CLOSE', 'DAY+', 'GTC+'] as const
export type TimeInForce = (typeof TIMES_IN_FORCE)[number]

export const INSTRUMENTS = ['STK', 'OPT', 'MLEG_OPT', 'FUT', 'CRYPTO'] as const
export type Instrument = (typeof INSTRUMENTS)[number]

/** How the size of an order is given: whole units, fractions of them, or an amount of money. */
export const SIZES = ['whole', 'fraction', 'notional'] as const
export type Size = (typeof SIZES)[number]

/** The fields of an order that a modification can change. */
export const REPLACE_FIELDS = ['order_qty', 'order_notional', 'order_limit_price', 'stop_price'] as const
export type ReplaceField = (typeof REPLACE_FIELDS)[number]

/** When an order can trade. `extended`: before or after the regular hours only; `exchange`: whenever the contract's exchange is open. */
export const TRADING_HOURS = [
  'regular',
  'regular_and_extended',
  'extended',
  'opening_auction',
  'closing_auction',
  'exchange',
  'always'
] as const
export type TradingHours = (typeof TRADING_HOURS)[number]

export const ORDER_STATUSES = [
  'pending',
  'working',
  'partially_filled',
  'filled',
  'cancelled',
  'rejected',
  'expired',
  'replaced',
  'pending_cancel',
  'pending_replace'
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

/**
 * Why a broker rejected an order, in common terms. `insufficient_position`: also for one order that would cross through zero;
 * `not_tradable`: the instrument, for now or for everyone; `not_permitted`: the account, or the form of order; `order_ended`: a replacement
 * whose predecessor had ended; `other`: none of these.
 */
export const REJECT_CODES = [
  'unknown_symbol',
  'insufficient_funds',
  'insufficient_position',
  'market_closed',
  'price_out_of_range',
  'tick_size',
  'quantity_invalid',
  'not_tradable',
  'not_permitted',
  'duplicate',
  'risk_rejected',
  'order_ended',
  'other'
] as const
export type RejectCode = (typeof REJECT_CODES)[number]

export const CONNECTION_TYPES = ['readonly', 'trade', 'market_data'] as const
export type ConnectionType = (typeof CONNECTION_TYPES)[number]

export const CONNECTION_STATUSES = ['ACTIVE', 'BROKEN'] as const
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number]

/**
 * Why a connection is BROKEN: the broker rejected its credentials, the service is configured for another environment than they were made
 * in, or the stored credentials were altered.
 */
export const BROKEN_CODES = ['credentials_rejected', 'environment_changed', 'credentials_altered'] as const
export type BrokenCode = (typeof BROKEN_CODES)[number]

/** Where a broker's orders go: the sandbox brokerage, the broker's paper accounts, or live trading. */
export const ENVIRONMENTS = ['sandbox', 'paper', 'live'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

export const TRANSACTION_TYPES = [
  'BUY',
  'SELL',
  'DIVIDEND',
  'INTEREST',
  'FEE',
  'DEPOSIT',
  'WITHDRAWAL',
  'TRANSFER',
  'SPLIT',
  'EXERCISE',
  'ASSIGNMENT',
  'EXPIRATION',
  'ADJUSTMENT',
  'OTHER'
] as const
export type TransactionType = (typeof TRANSACTION_TYPES)[number]

export const MARKET_DATA_CHANNELS = ['bars', 'trades', 'quotes', 'depth', 'options_chain'] as const
export type MarketDataChannel = (typeof MARKET_DATA_CHANNELS)[number]

export const SESSIONS = ['BrokerDefault', 'USEqCore', 'USEqPreMkt', 'USEqPostMkt', 'USEqPreAndPostMkt', 'USEq24Hour'] as const
export type Session = (typeof SESSIONS)[number]
