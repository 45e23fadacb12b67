import { after } from 'node:test'
import { brokerContract } from '@trunkline/testkit/broker-contract/index'
import { HouseProcess } from '../sandbox/house.ts'
import { openDialect } from '../support/dialect-harness.ts'
import { TRADESTATION } from './harness.ts'

const house = HouseProcess.start()
after(async () => await (await house)[Symbol.asyncDispose]())

brokerContract('TRADESTATION', async () => await openDialect(await house, TRADESTATION))
