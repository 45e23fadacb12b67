/** What Tradier can do, as data. */

import { parseBrokerId } from '@trunkline/core/domain/ids'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'

const ALL_TYPES = ['MKT', 'LMT', 'STP', 'STPLMT'] as const

export const TRADIER_CAPABILITIES = {
  id: parseBrokerId('TRADIER'),
  name: 'Tradier',
  logoColor: '#7c3aed',
  logoInitials: 'Tr',
  login: 'oauth',
  instruments: ['STK', 'OPT', 'MLEG_OPT'],
  orderTypes: { STK: ALL_TYPES, OPT: ALL_TYPES, MLEG_OPT: ['MKT', 'LMT'] },
  timesInForce: {
    // DAY+ is the session before or after the regular one, by the time of the order.
    STK: ['DAY', 'GTC', 'DAY+'],
    OPT: ['DAY', 'GTC'],
    MLEG_OPT: ['DAY', 'GTC']
  },
  sides: {
    STK: ['BUY', 'SELL'],
    OPT: ['BUY_TO_OPEN', 'SELL_TO_OPEN', 'BUY_TO_CLOSE', 'SELL_TO_CLOSE'],
    // Bought at a debit, sold at a credit.
    MLEG_OPT: ['BUY', 'SELL']
  },
  exclusions: [
    { types: ['MKT'], tifs: ['GTC'] },
    { types: ['MKT', 'STP', 'STPLMT'], tifs: ['DAY+'] }
  ],
  onlyInSession: ['DAY+'],
  extendedHours: 'alone',
  sessions: ['BrokerDefault', 'USEqCore', 'USEqPreMkt', 'USEqPostMkt', 'USEqPreAndPostMkt'],
  marketData: {
    channels: ['bars', 'trades', 'quotes', 'options_chain'],
    historyIntervals: ['1m', '5m', '15m', '1d'],
    historyDays: { '1m': 10, '5m': 18, '15m': 18 },
    dailyBars: 'core',
    dailySessions: [],
    // Built from its trades.
    liveIntervals: [],
    // The stream does not distinguish trades that count for the volume alone from those that set a price.
    liveVolume: 'priced',
    symbolSearch: true,
    backfillMax: 10_000,
    historyLagMs: 10_000,
    everyTrade: true,
    streamNumbered: false,
    connections: 'one'
  },
  notional: false,
  fractional: false,
  replace: 'native',
  replaceFields: {
    STK: ['order_limit_price', 'stop_price'],
    OPT: ['order_limit_price', 'stop_price'],
    MLEG_OPT: ['order_limit_price']
  },
  replacedOrderId: 'same',
  replacedQuantity: 'total',
  accountStream: true,
  accountStreamNumbered: false,
  executions: false,
  rejectReasons: true,
  tokens: 'refreshed',
  revocation: 'none',
  transactions: true,
  orderPreview: true,
  deduplication: 'label',
  brokerClOrdId: { lengthMax: 64, alphabet: 'alphanumeric' }
} as const satisfies BrokerCapabilities

/** As the deployment has it: Tradier's practice accounts may lack either stream, which is then replaced by polling. */
export function tradierCapabilities(streams: { readonly account: boolean; readonly market: boolean }): BrokerCapabilities {
  const { marketData } = TRADIER_CAPABILITIES
  return {
    ...TRADIER_CAPABILITIES,
    accountStream: streams.account,
    // Polling finds the last trade, not every one of them; bars of a minute can be polled.
    marketData: streams.market
      ? marketData
      : { ...marketData, channels: ['bars', 'quotes', 'options_chain'], liveIntervals: ['1m'], liveVolume: 'all', everyTrade: false }
  }
}
