/** Alpaca's adapter under the broker contract, at the sandbox brokerage that speaks as Alpaca. */

import { after } from 'node:test'
import { brokerContract } from '@trunkline/testkit/broker-contract/index'
import { HouseProcess } from '../sandbox/house.ts'
import { openDialect } from '../support/dialect-harness.ts'
import { ALPACA, strict } from './harness.ts'

const house = strict(HouseProcess.start())
after(async () => await (await house)[Symbol.asyncDispose]())

brokerContract('ALPACA', async () => await openDialect(await house, ALPACA))
