/** Enum maps of orders: the sandbox's states, types and times in force at TradeStation. */

import type { OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { OrderView, Overlay } from '../frame/brokerage.ts'

export const STATUS_TEXTS = {
  OPN: 'Sent',
  ACK: 'Received',
  DON: 'Queued',
  STP: 'Stop Hit',
  FPR: 'Partial Fill (Alive)',
  FLL: 'Filled',
  FLP: 'Partial Fill (UROut)',
  UCN: 'Cancel Sent',
  RSN: 'Replace Sent',
  OUT: 'UROut',
  TSC: 'Trade Server Canceled',
  EXP: 'Expired',
  REJ: 'Rejected'
} as const
export type Status = keyof typeof STATUS_TEXTS

export const TYPES = {
  Market: 'MKT',
  Limit: 'LMT',
  StopMarket: 'STP',
  StopLimit: 'STPLMT'
} as const satisfies Record<string, OrderType>

export const TYPE_OF = {
  MKT: 'Market',
  LMT: 'Limit',
  STP: 'StopMarket',
  STPLMT: 'StopLimit'
} as const satisfies Record<OrderType, keyof typeof TYPES>

/** As they are asked for. Dates and minutes (`GTD`, `GDP`, `1`, `3`, `5`) are not emulated. */
export const DURATIONS = {
  DAY: 'DAY',
  DYP: 'DAY+',
  GTC: 'GTC',
  GCP: 'GTC+',
  OPG: 'OPEN',
  CLO: 'CLOSE',
  IOC: 'IOC',
  FOK: 'FOK'
} as const satisfies Record<string, TimeInForce>

/** As they are shown, which is not as they are asked for. */
export const DURATION_OF = {
  DAY: 'DAY',
  'DAY+': 'DAY+',
  GTC: 'GTC',
  'GTC+': 'GTC+',
  OPEN: 'OPG',
  CLOSE: 'CLO',
  IOC: 'IOC',
  FOK: 'FOK'
} as const satisfies Record<TimeInForce, string>

export const ACTIONS = {
  BUY: 'BUY',
  SELL: 'SELL',
  BUYTOCOVER: 'BUY',
  SELLSHORT: 'SELL',
  BUYTOOPEN: 'BUY_TO_OPEN',
  BUYTOCLOSE: 'BUY_TO_CLOSE',
  SELLTOOPEN: 'SELL_TO_OPEN',
  SELLTOCLOSE: 'SELL_TO_CLOSE'
} as const satisfies Record<string, Side>
export type TradeAction = keyof typeof ACTIONS

/** `executed`: whether anything of the order was filled. */
export function statusOf(order: OrderView, overlay: Overlay | undefined, executed: boolean): Status {
  switch (order.state) {
    case 'held':
    case 'open':
    case 'partial':
    case 'replaced':
      return liveStatus(order, overlay, executed)
    case 'filled':
      return 'FLL'
    case 'expired':
      return 'EXP'
    case 'rejected':
      return 'REJ'
    case 'canceled':
      if (overlay !== undefined && overlay.refusedLater !== null) return 'REJ'
      if (executed) return 'FLP'
      return order.reason?.code === 'split' ? 'TSC' : 'OUT'
  }
}

function liveStatus({ state, timeInForce }: OrderView, overlay: Overlay | undefined, executed: boolean): Status {
  if (overlay?.busy === 'cancelling') return 'UCN'
  if (overlay?.busy === 'amending') return 'RSN'
  if (executed) return 'FPR'
  return state === 'held' && (timeInForce === 'OPEN' || timeInForce === 'CLOSE') ? 'DON' : 'ACK'
}
