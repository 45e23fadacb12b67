import { after } from 'node:test'
import { brokerContract } from '@trunkline/testkit/broker-contract/index'
import { SandboxProcess } from '../sandbox/sandbox-process.ts'
import { openDialect } from '../support/dialect-harness.ts'
import { AHEAD_MS, TRADIER } from './harness.ts'

async function started(): Promise<SandboxProcess> {
  const sandbox = await SandboxProcess.start()
  await sandbox.control('PUT', '/clock', { advance_ms: AHEAD_MS })
  return sandbox
}

const sandbox = started()
after(async () => await (await sandbox)[Symbol.asyncDispose]())

brokerContract('TRADIER', async () => await openDialect(await sandbox, TRADIER))
