// The command line of `npm run cluster`, and the commands on its standard input.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { readCommands, runCommand } from '../../cluster/commands.ts'
import { drainNode } from '../../cluster/draining.ts'
import { optionsOf, portsOf } from '../../cluster/options.ts'
import { statusTable } from '../../cluster/status.ts'
import { script } from './stage.ts'

function targetsOf(calls: string[]) {
  const record = (verb: string) => async (name: string) => {
    calls.push(`${verb} ${name}`)
    if (name === '9') throw new Error('There is no "9"; there are 1.')
    return `${verb} done`
  }
  return { kill: record('kill'), pause: record('pause'), stop: record('stop'), drain: record('drain'), start: record('start') }
}

test('each command reaches its target, and an error is an answer', async () => {
  const calls: string[] = []
  const run = (line: string) => runCommand(line, targetsOf(calls), () => 'a table')
  for (const verb of ['kill', 'pause', 'stop', 'drain', 'start']) assert.equal(await run(` ${verb}  2 `), `${verb} done`)
  assert.deepEqual(calls, ['kill 2', 'pause 2', 'stop 2', 'drain 2', 'start 2'])
  assert.equal(await run('status'), 'a table')
  assert.equal(await run('kill 9'), 'There is no "9"; there are 1.')
  for (const line of ['kill', 'explode 2', 'kill 1 2', 'status 2', 'constructor 1'])
    assert.match(await run(line), /^Commands: status, kill/)
})

test('drain does what the command line does, by the number of a node', async () => {
  const url = 'http://127.0.0.1:8102'
  const nodes = [script('/nowhere', '1', ''), script('/nowhere', '2', '', { env: { TRUNKLINE_NODE_URL: url } })]
  const ran: string[] = []
  let members = [{ node_id: 'before', url, lease_seconds: -9 }]
  const run: Parameters<typeof drainNode>[2] = async (args, { env, out, err }) => {
    ran.push(`${env.TRUNKLINE_NODE_URL} ${args.join(' ')}`)
    if (args[1] === 'nodes') out(JSON.stringify({ nodes: members }))
    else if (args[2] !== 'now') err('There is no living node.\n')
    return args[1] === 'nodes' || args[2] === 'now' ? 0 : 1
  }
  await assert.rejects(drainNode('2', nodes, run), /^Error: node 2 is not part of the cluster now\./)
  members = [...members, { node_id: 'now', url, lease_seconds: 2 }]
  assert.match(await drainNode('2', nodes, run), /^node 2 gives its users to the other nodes now, and serves on/)
  assert.equal(ran.at(-1), `${url} cluster drain now`)
  members = [{ node_id: 'other', url, lease_seconds: 1 }]
  await assert.rejects(drainNode('2', nodes, run), /^Error: There is no living node\.$/)
  await assert.rejects(drainNode('nats', nodes, run), /^Error: Only nodes have users to give away: 1, 2\. `stop nats` ends/)
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
