/** Mapping of Tradier's enum values to the core's. Tables that are read in both directions have the value to send first. */

import type { Instrument, OrderStatus, OrderType, Side, TimeInForce, TransactionType } from '@trunkline/core/domain/vocabulary'

/** `calculated` and `filled` are decided by the quantities, not by the status. */
export const STATUSES = {
  ok: 'pending',
  pending: 'pending',
  submitted: 'pending',
  open: 'working',
  // In Tradier's hands, and waiting for its trigger: it can be cancelled.
  held: 'working',
  accepted_for_bidding: 'working',
  partially_filled: 'partially_filled',
  calculated: 'working',
  filled: 'filled',
  canceled: 'cancelled',
  cancelled: 'cancelled',
  expired: 'expired',
  rejected: 'rejected',
  error: 'rejected'
} as const satisfies Record<string, OrderStatus>

export const ASSET_CLASSES = {
  equity: 'STK',
  option: 'OPT',
  multileg: 'MLEG_OPT',
  // Options together with their shares: made elsewhere only.
  combo: 'MLEG_OPT'
} as const satisfies Record<string, Instrument>

/** Orders that hold others, each with its own life. */
export const BRACKETS: ReadonlySet<unknown> = new Set(['oto', 'oco', 'otoco'])

export const ORDER_TYPES = { market: 'MKT', limit: 'LMT', stop: 'STP', stop_limit: 'STPLMT' } as const satisfies Record<string, OrderType>

/** Of a multi-leg order, whose type also states which way the money goes. */
export const MULTI_LEG_TYPES = {
  market: { type: 'MKT', side: 'BUY' },
  debit: { type: 'LMT', side: 'BUY' },
  credit: { type: 'LMT', side: 'SELL' },
  even: { type: 'LMT', side: 'BUY' }
} as const satisfies Record<string, { type: OrderType; side: Side }>

export const TIME_IN_FORCE = { day: 'DAY', gtc: 'GTC', pre: 'DAY+', post: 'DAY+' } as const satisfies Record<string, TimeInForce>

export const SHARE_SIDES = {
  buy: 'BUY',
  buy_to_cover: 'BUY',
  sell: 'SELL',
  sell_short: 'SELL'
} as const satisfies Record<string, Side>

export const OPTION_SIDES = {
  buy_to_open: 'BUY_TO_OPEN',
  buy_to_close: 'BUY_TO_CLOSE',
  sell_to_open: 'SELL_TO_OPEN',
  sell_to_close: 'SELL_TO_CLOSE'
} as const satisfies Record<string, Side>

/** Of an event of the history; `trade`, and what moves money, take more than the type. */
export const EVENTS = {
  dividend: 'DIVIDEND',
  interest: 'INTEREST',
  fee: 'FEE',
  tax: 'FEE',
  journal: 'TRANSFER',
  transfer: 'TRANSFER',
  adjustment: 'ADJUSTMENT',
  ach: 'DEPOSIT',
  wire: 'DEPOSIT',
  check: 'DEPOSIT',
  trade: 'BUY',
  option: 'OTHER'
} as const satisfies Record<string, TransactionType>

/** What became of an option. */
export const OPTION_EVENTS = {
  assignment: 'ASSIGNMENT',
  exercise: 'EXERCISE',
  expiration: 'EXPIRATION'
} as const satisfies Record<string, TransactionType>
