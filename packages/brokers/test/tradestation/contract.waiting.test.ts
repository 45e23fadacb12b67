import { after } from 'node:test'
import { brokerContract } from '@trunkline/testkit/broker-contract/index'
import { SandboxProcess } from '../sandbox/sandbox-process.ts'
import { openDialect } from '../support/dialect-harness.ts'
import { TRADESTATION } from './harness.ts'

const sandbox = SandboxProcess.start()
after(async () => await (await sandbox)[Symbol.asyncDispose]())

brokerContract('TRADESTATION', async () => await openDialect(await sandbox, TRADESTATION))
