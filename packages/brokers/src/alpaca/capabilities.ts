/** What Alpaca can do, as data. */

import { parseBrokerId } from '@trunkline/core/domain/ids'
import type { Environment } from '@trunkline/core/domain/vocabulary'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'

export const ALPACA_CAPABILITIES = {
  id: parseBrokerId('ALPACA'),
  name: 'Alpaca',
  logoColor: '#fcd34d',
  logoInitials: 'Al',
  login: 'oauth',
  instruments: ['STK', 'OPT', 'MLEG_OPT', 'CRYPTO'],
  orderTypes: {
    STK: ['MKT', 'LMT', 'STP', 'STPLMT'],
    OPT: ['MKT', 'LMT'],
    MLEG_OPT: ['MKT', 'LMT'],
    CRYPTO: ['MKT', 'LMT', 'STPLMT']
  },
  timesInForce: {
    // The extended hours are for limit orders only, which each order is checked for.
    STK: ['DAY', 'GTC', 'IOC', 'FOK', 'OPEN', 'CLOSE', 'DAY+', 'GTC+'],
    OPT: ['DAY'],
    MLEG_OPT: ['DAY'],
    CRYPTO: ['GTC', 'IOC']
  },
  sides: {
    STK: ['BUY', 'SELL'],
    OPT: ['BUY_TO_OPEN', 'SELL_TO_OPEN', 'BUY_TO_CLOSE', 'SELL_TO_CLOSE'],
    MLEG_OPT: ['BUY', 'SELL'],
    CRYPTO: ['BUY', 'SELL']
  },
  exclusions: [
    { types: ['MKT', 'STP', 'STPLMT'], tifs: ['DAY+', 'GTC+'] },
    // A stop waits for its price, and takes part in no auction.
    { types: ['STP', 'STPLMT'], tifs: ['IOC', 'FOK', 'OPEN', 'CLOSE'] },
    { instruments: ['STK'], tifs: ['GTC', 'IOC', 'FOK', 'OPEN', 'CLOSE', 'GTC+'], sizes: ['fraction', 'notional'] }
  ],
  onlyInSession: ['IOC', 'FOK'],
  extendedHours: 'with_regular',
  sessions: ['BrokerDefault', 'USEqCore', 'USEqPreMkt', 'USEqPostMkt', 'USEqPreAndPostMkt'],
  marketData: {
    channels: ['bars', 'trades', 'quotes', 'depth', 'options_chain'],
    historyIntervals: ['1m', '5m', '15m', '30m', '1h', '1d'],
    historyDays: {},
    dailyBars: 'all_hours',
    dailySessions: [],
    // Alpaca streams a bar once, when its minute is over: live bars are built from trades, which cover the open one too.
    liveIntervals: [],
    liveVolume: 'all',
    // It lists all its assets at once, thousands of them, and searches none.
    symbolSearch: false,
    backfillMax: 10_000,
    historyLagMs: 5_000,
    everyTrade: true,
    streamNumbered: false,
    connections: 'several'
  },
  notional: true,
  fractional: true,
  replace: 'native',
  replaceFields: {
    STK: ['order_qty', 'order_limit_price', 'stop_price'],
    OPT: ['order_qty', 'order_limit_price', 'stop_price'],
    MLEG_OPT: ['order_qty', 'order_limit_price'],
    CRYPTO: ['order_qty', 'order_limit_price', 'stop_price']
  },
  replacedOrderId: 'new',
  replacedQuantity: 'rest',
  accountStream: true,
  accountStreamNumbered: false,
  executions: true,
  rejectReasons: false,
  tokens: 'lasting',
  revocation: 'none',
  transactions: true,
  orderPreview: false,
  deduplication: 'enforced',
  brokerClOrdId: { lengthMax: 64, alphabet: 'alphanumeric' }
} as const satisfies BrokerCapabilities

/** As the deployment has it: the sandbox brokerage trades fractions of a share at the market only. */
export function alpacaCapabilities(environment: Environment): BrokerCapabilities {
  const { exclusions } = ALPACA_CAPABILITIES
  if (environment !== 'sandbox') return ALPACA_CAPABILITIES
  return {
    ...ALPACA_CAPABILITIES,
    exclusions: [...exclusions, { instruments: ['STK'], types: ['LMT', 'STP', 'STPLMT'], sizes: ['fraction'] }]
  }
}
