import { after } from 'node:test'
import { brokerContract } from '@trunkline/testkit/broker-contract/index'
import { HouseProcess } from '../sandbox/house.ts'
import { openDialect } from '../support/dialect-harness.ts'
import { AHEAD_MS, TRADIER } from './harness.ts'

async function started(): Promise<HouseProcess> {
  const house = await HouseProcess.start()
  await house.control('PUT', '/clock', { advance_ms: AHEAD_MS })
  return house
}

const house = started()
after(async () => await (await house)[Symbol.asyncDispose]())

brokerContract('TRADIER', async () => await openDialect(await house, TRADIER))
