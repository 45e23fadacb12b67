/** Alpaca's market data under the market contract: every card gets a login of its own, in a house whose time is its own too. */

import { after } from 'node:test'
import { marketContract } from '@trunkline/testkit/market-contract/index'
import { MARKET_HEARTBEAT_MS, openDialectMarket, startMarketSandbox } from '../../support/dialect-market.ts'
import { ALPACA, alpacaAt, strict } from '../harness.ts'

const sandbox = strict(startMarketSandbox())
after(async () => await (await sandbox)[Symbol.asyncDispose]())

const MARKET = {
  broker: { ...ALPACA, define: (at, deps) => alpacaAt(at, deps, MARKET_HEARTBEAT_MS) },
  symbols: { busy: 'BTC/USD', other: 'ETH/USD', underlying: 'SPY', unknown: 'NOSUCH' },
  patienceMs: 20_000
} satisfies Parameters<typeof openDialectMarket>[1]

marketContract('ALPACA', async () => await openDialectMarket(await sandbox, MARKET))
