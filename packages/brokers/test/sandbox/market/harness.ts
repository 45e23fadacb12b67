/** A login at the sandbox for one case of the market contract. */

import type { MarketHarness } from '@trunkline/testkit/market-contract/index'
import { openDialectMarket } from '../../support/dialect-market.ts'
import { SANDBOX } from '../harness.ts'
import type { SandboxProcess } from '../sandbox-process.ts'

const SYMBOLS = { busy: 'BTC/USD', other: 'ETH/USD', underlying: 'SPY', unknown: 'NOSUCH' }

export async function openMarket(sandbox: SandboxProcess): Promise<MarketHarness> {
  return await openDialectMarket(sandbox, { broker: SANDBOX, symbols: SYMBOLS, patienceMs: 20_000 })
}
