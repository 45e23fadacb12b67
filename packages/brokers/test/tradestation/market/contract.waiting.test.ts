/** TradeStation's market data under the market contract: every card gets a login of its own, in a house whose time is its own too. */

import { after } from 'node:test'
import { marketContract } from '@trunkline/testkit/market-contract/index'
import { tradestation } from '../../../src/tradestation/index.ts'
import { MARKET_HEARTBEAT_MS, openDialectMarket, startMarketSandbox } from '../../support/dialect-market.ts'
import { settingsAt, TRADESTATION } from '../harness.ts'

const sandbox = startMarketSandbox()
after(async () => await (await sandbox)[Symbol.asyncDispose]())

const MARKET = {
  broker: {
    ...TRADESTATION,
    define: ({ url, publicUrl, clientId, clientSecret }, deps) =>
      tradestation(settingsAt(url, publicUrl, { clientId, clientSecret }, MARKET_HEARTBEAT_MS), deps)
  },
  symbols: { busy: 'BTC/USD', other: 'ETH/USD', underlying: 'SPY', unknown: 'NOSUCH' },
  patienceMs: 20_000
} satisfies Parameters<typeof openDialectMarket>[1]

marketContract('TRADESTATION', async () => await openDialectMarket(await sandbox, MARKET))
