/** Tradier's market data under the market contract: every card gets a login of its own, in a house whose time is its own too. */

import { after } from 'node:test'
import { marketContract } from '@trunkline/testkit/market-contract/index'
import { openMarket, startSandbox } from './harness.ts'

const sandbox = startSandbox()
after(async () => await (await sandbox)[Symbol.asyncDispose]())

marketContract('TRADIER', async () => await openMarket(await sandbox))
