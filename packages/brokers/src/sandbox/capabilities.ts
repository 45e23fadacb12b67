/** What the sandbox brokerage can do, as data. */

import { parseBrokerId } from '@trunkline/core/domain/ids'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'

export const SANDBOX_CAPABILITIES = {
  id: parseBrokerId('SANDBOX'),
  name: 'Trunkline Sandbox',
  logoColor: '#1f6f5c',
  login: 'oauth',
  instruments: ['STK', 'CRYPTO'],
  orderTypes: { STK: ['MKT', 'LMT', 'STP', 'STPLMT'], CRYPTO: ['MKT', 'LMT', 'STP', 'STPLMT'] },
  timesInForce: {
    STK: ['DAY', 'GTC', 'IOC', 'FOK', 'OPEN', 'CLOSE', 'DAY+', 'GTC+'],
    // Coins have no auctions.
    CRYPTO: ['DAY', 'GTC', 'IOC', 'FOK', 'DAY+', 'GTC+']
  },
  sides: { STK: ['BUY', 'SELL'], CRYPTO: ['BUY', 'SELL'] },
  sessions: ['BrokerDefault'],
  marketData: { channels: ['bars', 'quotes'], historyIntervals: ['1m', '5m', '15m', '30m', '1h', '1d'], liveIntervals: [], backfillMax: 5_000 },
  notional: true,
  fractional: true,
  replace: 'native',
  accountStream: true,
  transactions: true,
  deduplication: 'enforced',
  brokerClOrdId: { lengthMax: 64, alphabet: 'alphanumeric' }
} as const satisfies BrokerCapabilities
