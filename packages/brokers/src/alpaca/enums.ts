/** Mapping of Alpaca's enum values to the core's. The tables are read in both directions. */

import type { Instrument, OrderStatus, OrderType, Side, TimeInForce, TransactionType } from '@trunkline/core/domain/vocabulary'

export const ASSET_CLASSES = { us_equity: 'STK', us_option: 'OPT', crypto: 'CRYPTO' } as const satisfies Record<string, Instrument>
export const SIDES = { buy: 'BUY', sell: 'SELL' } as const satisfies Record<string, Side>
/** The side of an execution, which is reported more precisely than that of an order. */
export const EXECUTION_SIDES = { ...SIDES, sell_short: 'SELL' } as const satisfies Record<string, Side>
/** What an option's order does to the position. */
export const POSITION_INTENTS = {
  buy_to_open: 'BUY_TO_OPEN',
  buy_to_close: 'BUY_TO_CLOSE',
  sell_to_open: 'SELL_TO_OPEN',
  sell_to_close: 'SELL_TO_CLOSE'
} as const satisfies Record<string, Side>

export const ORDER_TYPES = { market: 'MKT', limit: 'LMT', stop: 'STP', stop_limit: 'STPLMT' } as const satisfies Record<string, OrderType>
/** A trailing stop placed elsewhere is a stop whose price moves; the broker's own value is kept as well. */
export const ORDER_TYPES_READ = { ...ORDER_TYPES, trailing_stop: 'STP' } as const satisfies Record<string, OrderType>

export const TIME_IN_FORCE = { day: 'DAY', gtc: 'GTC', ioc: 'IOC', fok: 'FOK', opg: 'OPEN', cls: 'CLOSE' } as const satisfies Record<
  string,
  TimeInForce
>
/** What an order with `extended_hours` lives for. */
export const EXTENDED = { DAY: 'DAY+', GTC: 'GTC+' } as const satisfies { readonly [tif in TimeInForce]?: TimeInForce }

export const STATUSES = {
  pending_new: 'pending',
  pending_review: 'pending',
  // Received and not routed yet, until its auction or the next session: it can be cancelled and modified.
  accepted: 'working',
  // Waits for the order that it hangs on, which works (recorded 2026-09-29): nothing of it is at the exchange.
  held: 'pending',
  accepted_for_bidding: 'working',
  new: 'working',
  stopped: 'working',
  suspended: 'working',
  // Goes on the next day, or is reported expired.
  done_for_day: 'working',
  // The day's settlement is worked out: filled when everything is, which the parser looks at.
  calculated: 'working',
  partially_filled: 'partially_filled',
  filled: 'filled',
  canceled: 'cancelled',
  expired: 'expired',
  rejected: 'rejected',
  replaced: 'replaced',
  pending_cancel: 'pending_cancel',
  pending_replace: 'pending_replace'
} as const satisfies Record<string, OrderStatus>

export const EVENTS = {
  fill: 'execution',
  partial_fill: 'execution',
  order_cancel_rejected: 'refusal',
  order_replace_rejected: 'refusal',
  pending_new: 'status',
  accepted: 'status',
  new: 'status',
  canceled: 'status',
  expired: 'status',
  replaced: 'status',
  rejected: 'status',
  done_for_day: 'status',
  stopped: 'status',
  suspended: 'status',
  calculated: 'status',
  held: 'status',
  pending_review: 'status',
  restated: 'status',
  partially_filled: 'status',
  pending_cancel: 'status',
  pending_replace: 'status'
} as const satisfies Record<string, 'execution' | 'refusal' | 'status'>

/** Activities that are not trades. */
export const ACTIVITIES = {
  TRANS: 'TRANSFER',
  ACATC: 'TRANSFER',
  ACATS: 'TRANSFER',
  JNL: 'TRANSFER',
  JNLC: 'TRANSFER',
  JNLS: 'TRANSFER',
  CSD: 'DEPOSIT',
  CSW: 'WITHDRAWAL',
  CFEE: 'FEE',
  FEE: 'FEE',
  PTC: 'FEE',
  CGD: 'DIVIDEND',
  DIV: 'DIVIDEND',
  INT: 'INTEREST',
  SPLIT: 'SPLIT',
  OPASN: 'ASSIGNMENT',
  OPEXC: 'EXERCISE',
  OPEXP: 'EXPIRATION',
  OPCA: 'ADJUSTMENT',
  OPCSH: 'ADJUSTMENT',
  MA: 'ADJUSTMENT',
  NC: 'ADJUSTMENT',
  PTR: 'ADJUSTMENT',
  REORG: 'ADJUSTMENT',
  SPIN: 'ADJUSTMENT',
  FOPT: 'OTHER',
  MISC: 'OTHER'
} as const satisfies Record<string, TransactionType>
