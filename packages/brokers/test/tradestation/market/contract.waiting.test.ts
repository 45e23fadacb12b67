/** TradeStation's market data under the market contract: every case gets its own login, in a sandbox with its own time. */

import { after } from 'node:test'
import { marketContract } from '@trunkline/testkit/market-contract/index'
import { tradestation } from '../../../src/tradestation/definition.ts'
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
