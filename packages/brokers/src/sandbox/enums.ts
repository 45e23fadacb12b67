/** Mapping of the sandbox's enum values to the core's. The tables are read in both directions. */

import type { Instrument, OrderStatus, OrderType, Side, TimeInForce, TransactionType } from '@trunkline/core/domain/vocabulary'
import { brokerValueOf } from '../kit/requests.ts'

/** What can be held and quoted. */
export const ASSET_CLASSES = { share: 'STK', coin: 'CRYPTO', option: 'OPT', future: 'FUT' } as const satisfies Record<string, Instrument>
/** What can be ordered: several options at once as well. */
export const ORDER_ASSET_CLASSES = { ...ASSET_CLASSES, package: 'MLEG_OPT' } as const satisfies Record<string, Instrument>
export const SIDES = { buy: 'BUY', sell: 'SELL' } as const satisfies Record<string, Side>
/** For an option the sandbox uses two fields for what the core has in one. */
export const POSITION_EFFECTS = {
  open: { BUY: 'BUY_TO_OPEN', SELL: 'SELL_TO_OPEN' },
  close: { BUY: 'BUY_TO_CLOSE', SELL: 'SELL_TO_CLOSE' }
} as const satisfies Record<string, Record<string, Side>>
export const ORDER_TYPES = { market: 'MKT', limit: 'LMT', stop: 'STP', stop_limit: 'STPLMT' } as const satisfies Record<string, OrderType>

export const TIME_IN_FORCE = {
  day: 'DAY',
  gtc: 'GTC',
  ioc: 'IOC',
  fok: 'FOK',
  at_open: 'OPEN',
  at_close: 'CLOSE',
  day_ext: 'DAY+',
  gtc_ext: 'GTC+'
} as const satisfies Record<string, TimeInForce>

export const STATUSES = {
  // Acknowledged and held by the sandbox: a stop that waits for its price, an order that waits for an auction.
  held: 'working',
  open: 'working',
  partial: 'partially_filled',
  cancelling: 'pending_cancel',
  amending: 'pending_replace',
  done: 'filled',
  cancelled: 'cancelled',
  lapsed: 'expired',
  refused: 'rejected',
  superseded: 'replaced'
} as const satisfies Record<string, OrderStatus>

export const TRANSACTION_TYPES = {
  buy: 'BUY',
  sell: 'SELL',
  fee: 'FEE',
  dividend: 'DIVIDEND',
  interest: 'INTEREST',
  deposit: 'DEPOSIT',
  withdrawal: 'WITHDRAWAL',
  transfer: 'TRANSFER',
  split: 'SPLIT',
  adjustment: 'ADJUSTMENT',
  exercise: 'EXERCISE',
  assignment: 'ASSIGNMENT',
  expiration: 'EXPIRATION',
  // What a future has gained or lost in a day, paid in cash.
  settlement: 'ADJUSTMENT'
} as const satisfies Record<string, TransactionType>

/** The sandbox's two values for a side; undefined when it has none. */
export function sandboxSide(side: Side): { readonly direction: string; readonly effect: string | null } | undefined {
  const direction = brokerValueOf(SIDES, side)
  if (direction !== undefined) return { direction, effect: null }
  for (const [effect, sides] of Object.entries(POSITION_EFFECTS))
    for (const [plain, coreSide] of Object.entries(sides)) {
      const found = brokerValueOf(SIDES, plain)
      if (coreSide === side && found !== undefined) return { direction: found, effect }
    }
  return undefined
}
