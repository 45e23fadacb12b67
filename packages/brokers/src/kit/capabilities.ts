/** What most brokers say alike of themselves. Each broker states what differs, and what nobody should have by default. */

import type { BrokerCapabilities } from '@trunkline/core/ports/broker'

export const ALL_TYPES = ['MKT', 'LMT', 'STP', 'STPLMT'] as const
/** Time in force of the regular hours. */
export const REGULAR = ['DAY', 'GTC', 'IOC', 'FOK'] as const
export const SIDES = ['BUY', 'SELL'] as const
export const OPTION_SIDES = ['BUY_TO_OPEN', 'SELL_TO_OPEN', 'BUY_TO_CLOSE', 'SELL_TO_CLOSE'] as const
/** The fields of an order that can be replaced. */
export const TERMS = ['order_qty', 'order_limit_price', 'stop_price'] as const

export const USUAL = {
  login: 'oauth',
  sessions: ['BrokerDefault', 'USEqCore', 'USEqPreMkt', 'USEqPostMkt', 'USEqPreAndPostMkt'],
  replace: 'native',
  replacedQuantity: 'total',
  accountStream: true,
  accountStreamNumbered: false,
  rejectReasons: true,
  tokens: 'refreshed',
  revocation: 'none',
  transactions: true,
  orderPreview: true,
  brokerClOrdId: { lengthMax: 64, alphabet: 'alphanumeric' }
} as const satisfies Partial<BrokerCapabilities>

export const USUAL_MARKET_DATA = {
  channels: ['bars', 'trades', 'quotes', 'depth', 'options_chain'],
  historyIntervals: ['1m', '5m', '15m', '30m', '1h', '1d'],
  historyDays: {},
  dailyBars: 'core',
  dailySessions: [],
  liveIntervals: ['1m'],
  liveVolume: 'all',
  symbolSearch: true,
  backfillMax: 10_000,
  everyTrade: true,
  streamNumbered: false,
  connections: 'several'
} as const satisfies Partial<BrokerCapabilities['marketData']>
