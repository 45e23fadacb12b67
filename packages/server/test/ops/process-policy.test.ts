// An exception that nothing caught ends the process, with its cause in the log and a code that a supervisor understands.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { EXIT_CODE, LEASE_LOST, STOPPED_LATE } from '../../src/ops/process-policy.ts'

const POLICY = new URL('../../src/ops/process-policy.ts', import.meta.url).href
const LOG = new URL('../../src/ops/log.ts', import.meta.url).href

async function ended(body: string): Promise<{ readonly code: unknown; readonly output: string }> {
  const program = `
    import { endLate, endOnUncaught, ProcessEnd } from ${JSON.stringify(POLICY)}
    import { PinoLog } from ${JSON.stringify(LOG)}
    endOnUncaught(new PinoLog('info'))
    setInterval(() => undefined, 1_000)
    ${body}`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', program], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const [code] = await once(child, 'close')
  return { code, output }
}

const FAULTS = {
  'an exception in a timer': "setTimeout(() => { throw new Error('not foreseen') }, 1)",
  'an exception in an event handler': "process.once('ping', () => { throw new Error('not foreseen') }).emit('ping')",
  'a rejection that nothing awaits': "void Promise.reject(new Error('not foreseen'))",
  'a log that fails as well':
    "process.stdout.write = () => { throw new Error('full') }; setTimeout(() => { throw new Error('not foreseen') }, 1)"
}

for (const [name, body] of Object.entries(FAULTS)) {
  test(`${name} ends the process [S74]`, async () => {
    const { code, output } = await ended(body)
    assert.equal(code, EXIT_CODE, output)
    assert.match(output, /not foreseen/)
  })
}

test('a stop that was cut short is not an unexpected state: it has its own code and message', async () => {
  const { code, output } = await ended("endLate(new PinoLog('info'), 25)")
  assert.equal(code, STOPPED_LATE, output)
  assert.match(output, /^trunkline ends: the stop was not finished within TRUNKLINE_SHUTDOWN_SECONDS \(25 s\)/m)
})

test('a lost lease is no crash: it has its own code, and its reason is printed', async () => {
  const { code, output } = await ended(`queueMicrotask(() => { throw new ProcessEnd(${LEASE_LOST}, new Error('the lease is lost')) })`)
  assert.equal(code, LEASE_LOST, output)
  assert.match(output, /^trunkline ends: the lease is lost$/m)
})
