/** What the sandbox brokerage can do, as data. */

import { parseBrokerId } from '@trunkline/core/domain/ids'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'

const ALL_TYPES = ['MKT', 'LMT', 'STP', 'STPLMT'] as const

export const SANDBOX_CAPABILITIES = {
  id: parseBrokerId('SANDBOX'),
  name: 'Trunkline Sandbox',
  logoColor: '#1f6f5c',
  logoInitials: 'Sb',
  login: 'oauth',
  instruments: ['STK', 'OPT', 'MLEG_OPT', 'FUT', 'CRYPTO'],
  orderTypes: { STK: ALL_TYPES, OPT: ALL_TYPES, MLEG_OPT: ['MKT', 'LMT'], FUT: ALL_TYPES, CRYPTO: ALL_TYPES },
  timesInForce: {
    STK: ['DAY', 'GTC', 'IOC', 'FOK', 'OPEN', 'CLOSE', 'DAY+', 'GTC+'],
    // Neither auctions nor extended hours.
    OPT: ['DAY', 'GTC', 'IOC', 'FOK'],
    MLEG_OPT: ['DAY', 'GTC', 'IOC', 'FOK'],
    FUT: ['DAY', 'GTC', 'IOC', 'FOK'],
    // Crypto has no auctions.
    CRYPTO: ['DAY', 'GTC', 'IOC', 'FOK', 'DAY+', 'GTC+']
  },
  sides: {
    STK: ['BUY', 'SELL'],
    OPT: ['BUY_TO_OPEN', 'SELL_TO_OPEN', 'BUY_TO_CLOSE', 'SELL_TO_CLOSE'],
    MLEG_OPT: ['BUY', 'SELL'],
    FUT: ['BUY', 'SELL'],
    CRYPTO: ['BUY', 'SELL']
  },
  exclusions: [
    // A stop waits for its price, and takes part in no auction.
    { types: ['STP', 'STPLMT'], tifs: ['IOC', 'FOK', 'OPEN', 'CLOSE'] },
    // Fractions of a share trade at the market.
    { instruments: ['STK'], types: ['LMT', 'STP', 'STPLMT'], sizes: ['fraction'] }
  ],
  onlyInSession: ['IOC', 'FOK'],
  extendedHours: 'with_regular',
  sessions: ['BrokerDefault', 'USEqCore', 'USEqPreMkt', 'USEqPostMkt', 'USEqPreAndPostMkt', 'USEq24Hour'],
  marketData: {
    channels: ['bars', 'trades', 'quotes', 'depth', 'options_chain'],
    historyIntervals: ['1m', '5m', '15m', '30m', '1h', '1d'],
    historyDays: {},
    dailyBars: 'core',
    dailySessions: ['USEqCore'],
    liveIntervals: ['1m'],
    liveVolume: 'all',
    symbolSearch: true,
    backfillMax: 10_000,
    historyLagMs: 0,
    everyTrade: true,
    streamNumbered: true,
    connections: 'one'
  },
  notional: true,
  fractional: true,
  replace: 'native',
  replaceFields: {
    STK: ['order_qty', 'order_notional', 'order_limit_price', 'stop_price'],
    OPT: ['order_qty', 'order_limit_price', 'stop_price'],
    MLEG_OPT: ['order_qty', 'order_limit_price'],
    FUT: ['order_qty', 'order_limit_price', 'stop_price'],
    CRYPTO: ['order_qty', 'order_notional', 'order_limit_price', 'stop_price']
  },
  replacedOrderId: 'new',
  replacedQuantity: 'total',
  accountStream: true,
  accountStreamNumbered: true,
  executions: true,
  rejectReasons: true,
  tokens: 'refreshed',
  revocation: 'grant',
  transactions: true,
  orderPreview: true,
  deduplication: 'enforced',
  brokerClOrdId: { lengthMax: 64, alphabet: 'alphanumeric' }
} as const satisfies BrokerCapabilities
