// The thread that keeps the lease, in real time and with the real driver.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '@trunkline/testkit/until'
import { LeaseLost } from '../../../src/cluster/members/index.ts'
import { division } from '../../../src/cluster/members/rendezvous.ts'
import { realMember } from './real-member.ts'
import { SceneDatabase } from './scene.ts'

const database = await SceneDatabase.open()
after(() => database[Symbol.asyncDispose]())

test('the lease is kept while the main thread is blocked', async () => {
  await database.reset()
  const lost: Error[] = []
  const wallClock: number[] = []
  const { member } = realMember(
    database.url,
    { leaseMs: 1_500, renewEveryMs: 100 },
    cause => void lost.push(cause),
    wallMs => void wallClock.push(wallMs)
  )
  const before = Date.now()
  await member.start()
  const [read = 0] = wallClock
  assert.ok(read >= before && read <= Date.now() + 1, 'the first renewal reads the wall clock of the database')
  await until(() => member.ownedCount === 256, 'it owns all')
  // Longer than the lease: nothing but the other thread can have renewed it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_600)
  assert.equal(member.ownedCount, 256)
  await member.stop()
  assert.deepEqual(lost, [])
})

test('a process that is stopped by SIGSTOP past its lease ends, and owned nothing since it woke', async () => {
  await database.reset()
  const child = spawn(process.execPath, [fileURLToPath(new URL('./real-member.ts', import.meta.url)), database.url, '1000'], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await until(() => output.includes('gained 256\n'), 'it owns all')
  child.kill('SIGSTOP')
  const { member } = realMember(database.url, { leaseMs: 1_500, renewEveryMs: 100 })
  await member.start()
  await until(() => member.ownedCount === 256, 'another node owns all')
  child.kill('SIGCONT')
  await until(() => output.includes('lost'), 'it reports the loss')
  assert.match(output, /^gained 256\nlost with 0 partitions: this node has lost its lease: /)
  assert.equal(member.ownedCount, 256)
  await member.stop()
})

test('the database announces what was released, joined and left: no node waits for its next renewal', async () => {
  await database.reset()
  const timing = { leaseMs: 600_000, renewEveryMs: 200_000, marginMs: 1_000 }
  const [a, b] = [realMember(database.url, timing), realMember(database.url, timing)]
  await a.member.start()
  await until(() => a.member.ownedCount === 256, 'one owns all')
  await b.member.start()
  const share = [...division([a.nodeId, b.nodeId]).values()].filter(id => id === b.nodeId).length
  await until(() => a.member.ownedCount === 256 - share && b.member.ownedCount === share, 'both have their shares')
  await a.member.drain()
  await until(() => b.member.ownedCount === 256, 'the other one has all')
  await a.member.stop()
  await until(() => b.member.members.length === 1, 'it is gone')
  await b.member.stop()
})

test('a node that cannot join says why', async () => {
  const url = Object.assign(new URL(database.url), { password: 'wrong' }).href
  await assert.rejects(realMember(url, { joinMsMax: 0 }).member.start(), (cause: unknown) => {
    assert.ok(cause instanceof LeaseLost)
    assert.match(cause.message, /could not join: password authentication failed/)
    return true
  })
})
