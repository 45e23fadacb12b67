/** The sandbox's market data under the market contract: every case gets its own login, in a sandbox with its own time. */

import { after } from 'node:test'
import { marketContract } from '@trunkline/testkit/market-contract/index'
import { startMarketSandbox } from '../../support/dialect-market.ts'
import { openMarket } from './harness.ts'

const sandbox = startMarketSandbox()
after(async () => await (await sandbox)[Symbol.asyncDispose]())

marketContract('SANDBOX', async () => await openMarket(await sandbox))
