/** Alpaca's adapter under the broker contract, at the sandbox that emulates Alpaca. */

import { after } from 'node:test'
import { brokerContract } from '@trunkline/testkit/broker-contract/index'
import { SandboxProcess } from '../sandbox/sandbox-process.ts'
import { openDialect } from '../support/dialect-harness.ts'
import { ALPACA, strict } from './harness.ts'

const sandbox = strict(SandboxProcess.start())
after(async () => await (await sandbox)[Symbol.asyncDispose]())

brokerContract('ALPACA', async () => await openDialect(await sandbox, ALPACA))
