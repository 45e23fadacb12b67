// The supervisor, with small programs in place of a cluster's.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { folderFor, freePort, script, stageOf, standIn, TIMING } from './stage.ts'

const FOREVER = 'setInterval(() => {}, 1000)'

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a group is started once the one before is ready, and stopped on request', async t => {
  const folder = folderFor(t)
  const made = join(folder, 'made')
  const slow = `setTimeout(() => require('node:fs').writeFileSync(${JSON.stringify(made)}, ''), 200); ${FOREVER}`
  const first = script(folder, 'first', slow, { isReady: async () => existsSync(made) })
  const second = script(folder, 'second', `console.log(require('node:fs').existsSync(${JSON.stringify(made)})); ${FOREVER}`)
  const { supervisor, running } = stageOf(t, [[first], [second]])
  await supervisor.startGroup(0)
  await supervisor.startGroup(1)
  await until(() => readFileSync(second.logFile, 'utf8') === 'true\n', 'the second ran after the first was ready')
  assert.deepEqual(
    supervisor.status().map(({ state }) => state),
    ['ready', 'ready']
  )
  await supervisor.stopGroup(1)
  assert.deepEqual(
    supervisor.status().map(({ state }) => state),
    ['ready', 'down']
  )
  await supervisor.stopGroup(0)
  assert.equal(running.size, 0)
})

test('a program that ends by itself is reported and started again', async t => {
  const node = standIn(folderFor(t), '2', await freePort())
  const { supervisor, lines, pidOf } = stageOf(t, [[node]])
  await supervisor.startGroup(0)
  const before = pidOf('2')
  await assert.rejects(fetch(`${node.address}/crash`))
  await until(() => lines.some(line => line.includes('is ready after')), 'it is ready again')
  assert.match(lines[0] ?? '', /^node 2 ended by itself \(exit code 9; log: .*\)\. It is started again in 0\.05 s\.$/)
  assert.notEqual(pidOf('2'), before)
  assert.equal(await (await fetch(node.address)).text(), '2')
})

test('the pause grows while a program ends soon after its start', async t => {
  const folder = folderFor(t)
  const { supervisor, lines } = stageOf(t, [[script(folder, 'short', 'setTimeout(() => {}, 100)')]])
  await supervisor.startGroup(0)
  const pauses = () => lines.flatMap(line => /again in ([\d.]+) s/.exec(line)?.[1] ?? [])
  await until(() => pauses().length >= 4, 'it ended four times')
  assert.deepEqual(pauses().slice(0, 4), ['0.05', '0.1', '0.2', '0.2'])
})

test('a program that is not restarted is reported with the command that starts it', async t => {
  const { supervisor, lines, pidOf } = stageOf(t, [[script(folderFor(t), 'nats', FOREVER, { title: 'NATS', restarts: false })]])
  await supervisor.startGroup(0)
  process.kill(pidOf('nats'), 'SIGKILL')
  await until(() => lines.length > 0, 'its end was reported')
  assert.match(lines[0] ?? '', /^NATS ended by itself \(SIGKILL; log: .*\)\. `start nats` starts it again\.$/)
  assert.match(await supervisor.start('nats'), /^NATS is starting \(process \d+\)\.$/)
  await until(() => lines.length > 1, 'it is ready')
})

test('a killed program stays down until it is started', async t => {
  const node = standIn(folderFor(t), '1', await freePort())
  const { supervisor, lines, pidOf, running } = stageOf(t, [[node]])
  await supervisor.startGroup(0)
  assert.equal(await supervisor.kill('1'), 'node 1 was killed. `start 1` starts it again.')
  assert.equal(running.size, 0)
  assert.equal(lines.length, 0)
  assert.equal(await supervisor.kill('1'), 'node 1 is down. `start 1` starts it.')
  await supervisor.start('1')
  await until(() => lines.some(line => line.includes('is ready')), 'it is ready')
  assert.ok(isRunning(pidOf('1')))
  assert.equal(await supervisor.start('1'), 'node 1 is already up.')
})

test('a kill while it waits for its restart keeps a program down', async t => {
  const folder = folderFor(t)
  const timing = { ...TIMING, restartMs: 300_000, restartMsMax: 300_000 }
  const { supervisor, lines, running } = stageOf(t, [[script(folder, '1', FOREVER)]], timing)
  await supervisor.startGroup(0)
  for (const pid of running) process.kill(pid, 'SIGKILL')
  await until(() => lines.length > 0, 'its end was reported')
  assert.match(await supervisor.kill('1'), /is down/)
  await supervisor.start('1')
  await until(() => lines.length > 1, 'it is ready')
})

test('a stopped program ends gracefully, and one that does not is killed', async t => {
  const folder = folderFor(t)
  const graceful = standIn(folder, '1', await freePort())
  const handles = join(folder, 'handles')
  const stubborn = script(
    folder,
    '2',
    `process.on('SIGTERM', () => {}); require('node:fs').writeFileSync(${JSON.stringify(handles)}, ''); ${FOREVER}`,
    { endMs: 100, isReady: async () => existsSync(handles) }
  )
  const { supervisor } = stageOf(t, [[graceful, stubborn]])
  await supervisor.startGroup(0)
  assert.match(await supervisor.stop('1'), /^node 1 ended gracefully after [\d.]+ s\. `start 1` starts it again\.$/)
  assert.match(await supervisor.stop('2'), /^node 2 did not end and was killed after/)
})

test('a paused program can continue, be killed or be stopped', async t => {
  const folder = folderFor(t)
  const nodes = [standIn(folder, '1', await freePort()), standIn(folder, '2', await freePort()), standIn(folder, '3', await freePort())]
  const { supervisor } = stageOf(t, [nodes])
  await supervisor.startGroup(0)
  for (const { name } of nodes) assert.match(await supervisor.pause(name), /is paused/)
  assert.deepEqual(
    supervisor.status().map(({ state }) => state),
    ['paused', 'paused', 'paused']
  )
  assert.equal(await supervisor.pause('1'), 'node 1 is paused.')
  assert.equal(await supervisor.start('1'), 'node 1 continues.')
  assert.equal(await (await fetch(nodes[0]?.address ?? '')).text(), '1')
  assert.match(await supervisor.kill('2'), /was killed/)
  assert.match(await supervisor.stop('3'), /ended gracefully/)
})

test('what does not start, ends too early or is never ready is named with its log', async t => {
  const folder = folderFor(t)
  const missing = script(folder, 'a', '', { command: join(folder, 'no-such-program') })
  const early = script(folder, 'b', '', { isReady: async () => false })
  const late = script(folder, 'c', FOREVER, { isReady: async () => false })
  const { supervisor } = stageOf(t, [[missing], [early], [late]], { ...TIMING, readyMs: 1_000 })
  await assert.rejects(supervisor.startGroup(0), /^Error: node a could not be started: .*ENOENT/)
  await assert.rejects(supervisor.startGroup(1), /^Error: node b (ended before it was ready|was not ready after 1 s); its log: .*b\.log$/)
  await assert.rejects(supervisor.startGroup(2), /^Error: node c was not ready after 1 s; its log: .*c\.log$/)
})

test('an unknown name is answered with the known ones', async t => {
  const { supervisor } = stageOf(t, [[script(folderFor(t), 'nats', FOREVER)], [script(folderFor(t), '1', FOREVER)]])
  await assert.rejects(supervisor.kill('4'), /^Error: There is no "4"; there are nats, 1\.$/)
})
