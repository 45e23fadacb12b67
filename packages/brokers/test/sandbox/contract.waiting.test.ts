import { after } from 'node:test'
import { brokerContract } from '@trunkline/testkit/broker-contract/index'
import { openSandbox } from './harness.ts'
import { HouseProcess } from './house.ts'

const house = HouseProcess.start()
after(async () => await (await house)[Symbol.asyncDispose]())

brokerContract('SANDBOX', async () => await openSandbox(await house))
