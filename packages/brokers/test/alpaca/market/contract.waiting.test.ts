/** Alpaca's market data under the market contract: every case gets its own login, in a sandbox with its own time. */

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
