// The command line of `npm run cluster`, and the commands on its standard input.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { readCommands, runCommand } from '../../cluster/commands.ts'
import { optionsOf, portsOf } from '../../cluster/options.ts'
import { statusTable } from '../../cluster/status.ts'

function targetsOf(calls: string[]) {
  const record = (verb: string) => async (name: string) => {
    calls.push(`${verb} ${name}`)
    if (name === '9') throw new Error('There is no "9"; there are 1.')
    return `${verb} done`
  }
  return { kill: record('kill'), pause: record('pause'), drain: record('drain'), start: record('start') }
}

test('each command reaches its target, and an error is an answer', async () => {
  const calls: string[] = []
  const run = (line: string) => runCommand(line, targetsOf(calls), () => 'a table')
  for (const verb of ['kill', 'pause', 'drain', 'start']) assert.equal(await run(` ${verb}  2 `), `${verb} done`)
  assert.deepEqual(calls, ['kill 2', 'pause 2', 'drain 2', 'start 2'])
  assert.equal(await run('status'), 'a table')
  assert.equal(await run('kill 9'), 'There is no "9"; there are 1.')
  for (const line of ['kill', 'explode 2', 'kill 1 2', 'status 2', 'constructor 1'])
    assert.match(await run(line), /^Commands: status, kill/)
})

test('commands are read line by line until the input ends, and empty lines are ignored', async () => {
  const printed: string[] = []
  const close = readCommands(
    Readable.from(['status\n\n', 'kill ', '2\n']),
    async line => `(${line})`,
    text => printed.push(text)
  )
  await until(() => printed.length === 2, 'both were answered')
  close()
  assert.deepEqual(printed, ['(status)', '(kill 2)'])
})

test('arguments have defaults and limits', () => {
  assert.deepEqual(optionsOf([]), { nodes: 3, port: 8080, dataDir: '.data/cluster' })
  assert.deepEqual(optionsOf(['--nodes', '5', '--port', '9000', '--data-dir', 'x']), { nodes: 5, port: 9000, dataDir: 'x' })
  assert.equal(optionsOf(['--help']), null)
  assert.throws(() => optionsOf(['--nodes', '10']), /--nodes must be a whole number from 1 to 9, was "10"/)
  assert.throws(() => optionsOf(['--nodes', 'many']), /was "many"/)
  assert.throws(() => optionsOf(['--port', '65530']), /--port must be/)
  assert.throws(() => optionsOf(['--node', '3']), /Unknown option/)
})

test('no two programs have the same port', () => {
  const { nodes, ...others } = portsOf({ port: 8080, nodes: 9 })
  const ports = [...Object.values(others), ...nodes.flatMap(({ http, between }) => [http, between])]
  assert.equal(new Set(ports).size, ports.length)
  assert.ok(Math.max(...ports) <= 8080 + 40)
  assert.deepEqual([nodes[0]?.http, others.sandbox], [8081, 8090])
})

test('status is a table with the health of nodes', () => {
  const program = (name: string, title: string) =>
    ({
      name,
      title,
      address: `at ${name}`,
      command: '',
      args: [],
      env: {},
      runAs: null,
      logFile: '',
      endSignal: 'SIGTERM',
      endMs: 1
    }) as const
  const rest = { restarts: true, isReady: async () => true }
  const table = statusTable(
    [
      { program: { ...program('nats', 'NATS'), ...rest }, state: 'ready', pid: 7 },
      { program: { ...program('1', 'node 1'), ...rest }, state: 'down', pid: null }
    ],
    new Set(['1']),
    { healthOf: () => 'silent', connectionsOf: () => 2 }
  )
  assert.deepEqual(table.split('\n'), [
    '        state  process  address  at the balancer',
    'NATS    ready  7        at nats',
    'node 1  down            at 1     silent, 2 connections'
  ])
})
