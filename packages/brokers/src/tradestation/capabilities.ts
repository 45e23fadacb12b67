/** What TradeStation can do, as data. */

import { parseBrokerId } from '@trunkline/core/domain/ids'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'

const ALL_TYPES = ['MKT', 'LMT', 'STP', 'STPLMT'] as const

export const TRADESTATION_CAPABILITIES = {
  id: parseBrokerId('TRADESTATION'),
  name: 'TradeStation',
  logoColor: '#1d5bd8',
  logoInitials: 'TS',
  login: 'oauth',
  instruments: ['STK', 'OPT', 'MLEG_OPT', 'FUT'],
  orderTypes: { STK: ALL_TYPES, OPT: ALL_TYPES, MLEG_OPT: ['MKT', 'LMT'], FUT: ALL_TYPES },
  timesInForce: {
    STK: ['DAY', 'GTC', 'IOC', 'FOK', 'OPEN', 'CLOSE', 'DAY+', 'GTC+'],
    // Neither auctions nor extended hours.
    OPT: ['DAY', 'GTC', 'IOC', 'FOK'],
    MLEG_OPT: ['DAY', 'GTC'],
    FUT: ['DAY', 'GTC', 'IOC', 'FOK']
  },
  sides: {
    STK: ['BUY', 'SELL'],
    OPT: ['BUY_TO_OPEN', 'SELL_TO_OPEN', 'BUY_TO_CLOSE', 'SELL_TO_CLOSE'],
    MLEG_OPT: ['BUY', 'SELL'],
    FUT: ['BUY', 'SELL']
  },
  exclusions: [
    // Outside the regular hours a price is demanded.
    { types: ['MKT', 'STP'], tifs: ['DAY+', 'GTC+'] },
    // A stop waits for its price, and takes part in no auction.
    { types: ['STP', 'STPLMT'], tifs: ['IOC', 'FOK', 'OPEN', 'CLOSE'] }
  ],
  onlyInSession: ['IOC', 'FOK'],
  extendedHours: 'with_regular',
  // The overnight session is a template of its bars only, and would put bars outside the broker's own hours.
  sessions: ['BrokerDefault', 'USEqCore', 'USEqPreMkt', 'USEqPostMkt', 'USEqPreAndPostMkt'],
  marketData: {
    channels: ['bars', 'trades', 'quotes', 'depth', 'options_chain'],
    historyIntervals: ['1m', '5m', '15m', '30m', '1h', '1d'],
    historyDays: {},
    dailyBars: 'core',
    dailySessions: [],
    liveIntervals: ['1m'],
    liveVolume: 'all',
    // Only the previous API version has a search, and nothing else of it is used.
    symbolSearch: false,
    backfillMax: 10_000,
    historyLagMs: 2_000,
    everyTrade: false,
    streamNumbered: false,
    connections: 'several'
  },
  notional: false,
  fractional: false,
  replace: 'native',
  replaceFields: {
    STK: ['order_qty', 'order_limit_price', 'stop_price'],
    OPT: ['order_qty', 'order_limit_price', 'stop_price'],
    // The size of a multi-leg order is that of its legs, which cannot be changed.
    MLEG_OPT: ['order_limit_price'],
    FUT: ['order_qty', 'order_limit_price', 'stop_price']
  },
  replacedOrderId: 'same',
  replacedQuantity: 'total',
  accountStream: true,
  accountStreamNumbered: false,
  executions: false,
  rejectReasons: true,
  tokens: 'refreshed',
  revocation: 'customer',
  transactions: false,
  orderPreview: true,
  // It is sent so that the broker takes it once, but it is neither reported back nor searchable.
  deduplication: 'none',
  brokerClOrdId: { lengthMax: 22, alphabet: 'alphanumeric' }
} as const satisfies BrokerCapabilities
