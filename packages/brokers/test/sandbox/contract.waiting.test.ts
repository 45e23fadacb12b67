import { after } from 'node:test'
import { brokerContract } from '@trunkline/testkit/broker-contract/index'
import { openSandbox } from './harness.ts'
import { SandboxProcess } from './sandbox-process.ts'

const sandbox = SandboxProcess.start()
after(async () => await (await sandbox)[Symbol.asyncDispose]())

brokerContract('SANDBOX', async () => await openSandbox(await sandbox))
