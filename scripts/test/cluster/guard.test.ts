// When the cluster's own process is killed, its programs end all the same.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'

const GUARD = new URL('../../cluster/guard.ts', import.meta.url).href
/** Starts two programs, one of them paused, and prints their ids. */
const OWNER = `
import { spawn } from 'node:child_process'
import { startGuard } from '${GUARD}'
const guard = startGuard()
for (const state of ['running', 'paused', 'ended']) {
  const { pid } = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
  guard.began(pid, { endSignal: 'SIGTERM' })
  if (state === 'paused') process.kill(pid, 'SIGSTOP')
  if (state === 'ended') guard.ended(pid)
  console.log(pid)
}
console.log('all')
setInterval(() => {}, 1000)`

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('programs that began and have not ended are ended, paused or not; others are left', async () => {
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', OWNER], { stdio: ['ignore', 'pipe', 'inherit'] })
  const pids: number[] = []
  try {
    for await (const line of createInterface({ input: owner.stdout })) {
      if (line === 'all') break
      pids.push(Number(line))
    }
    const [running = 0, paused = 0, ended = 0] = pids
    assert.ok(pids.every(isRunning))
    owner.kill('SIGKILL')
    await once(owner, 'exit')
    await until(() => !isRunning(running) && !isRunning(paused), 'both have ended')
    assert.ok(isRunning(ended))
  } finally {
    owner.kill('SIGKILL')
    for (const pid of pids) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
  }
})
