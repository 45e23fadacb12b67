/** The sandbox's market data under the market contract: every card gets a login of its own, in a house whose time is its own too. */

import { after } from 'node:test'
import { marketContract } from '@trunkline/testkit/market-contract/index'
import { openMarket, startHouse } from './harness.ts'

const house = startHouse()
after(async () => await (await house)[Symbol.asyncDispose]())

marketContract('SANDBOX', async () => await openMarket(await house))
