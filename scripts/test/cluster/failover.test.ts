// The balancer and the supervisor together, over stand-ins for nodes: what a client notices when a node fails.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { Backends } from '../../cluster/backends.ts'
import { Balancer } from '../../cluster/balancer.ts'
import type { Supervisor } from '../../cluster/supervisor.ts'
import { folderFor, freePort, stageOf, standIn } from './stage.ts'

interface Site {
  readonly supervisor: Supervisor
  readonly backends: Backends
  readonly balancer: Balancer
  /** The name of the node that answered, on a new connection. */
  ask(): Promise<string>
  /** Opens a response that lasts until the node is to end. */
  openSlow(): Promise<{ readonly node: string; readonly rest: Promise<string> }>
}

async function siteOf(t: TestContext, names: readonly string[]): Promise<Site> {
  const folder = folderFor(t)
  const programs = await Promise.all(names.map(async name => standIn(folder, name, await freePort())))
  const { supervisor } = stageOf(t, [programs])
  const nodes = programs.map(({ name, address }) => ({ name, host: '127.0.0.1', port: Number(new URL(address).port) }))
  const timing = { everyMs: 20, answerMs: 2_000, lateMax: 2 }
  const backends = new Backends(nodes, (name, health) => void (health === 'silent' && balancer.closeConnectionsOf(name)), timing)
  const balancer = new Balancer(() => backends.candidates())
  await supervisor.startGroup(0)
  backends.start()
  const port = await balancer.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => balancer.stop())
  t.after(() => backends.stop())
  await until(() => backends.candidates().length === names.length, 'all nodes are ready')
  const open = async (path: string) => {
    const request = get({ host: '127.0.0.1', port, path, agent: new Agent() })
    const [response] = await once(request, 'response')
    // The response has the error of a connection that is cut later.
    request.on('error', () => undefined)
    return response
  }
  return {
    ...{ supervisor, backends, balancer },
    ask: async () => text(await open('/')),
    openSlow: async () => {
      const before = new Map(names.map(name => [name, balancer.connectionsOf(name)]))
      const response = await open('/slow')
      await once(response, 'readable')
      const node = names.find(name => balancer.connectionsOf(name) > (before.get(name) ?? 0)) ?? ''
      return { node, rest: text(response) }
    }
  }
}

test('a killed node takes its connections with it, the others answer, and it returns', async t => {
  const { supervisor, backends, ask, openSlow } = await siteOf(t, ['1', '2', '3'])
  assert.deepEqual(new Set([await ask(), await ask(), await ask()]), new Set(['1', '2', '3']))
  const { node, rest } = await openSlow()
  const [cut] = await Promise.allSettled([rest, supervisor.kill(node)])
  assert.equal(cut.status, 'rejected')
  // Also before the balancer has noticed: what does not accept a connection has received nothing.
  for (let count = 0; count < 12; count++) assert.notEqual(await ask(), node)
  await supervisor.start(node)
  await until(() => backends.healthOf(node) === 'ready', 'it is ready')
  assert.ok([await ask(), await ask(), await ask()].includes(node))
})

test('the connections of a paused node are closed', async t => {
  const { supervisor, backends, ask, openSlow } = await siteOf(t, ['1', '2'])
  const { node, rest } = await openSlow()
  await Promise.all([assert.rejects(rest, { code: 'ECONNRESET' }), supervisor.pause(node)])
  assert.equal(backends.healthOf(node), 'silent')
  const other = node === '1' ? '2' : '1'
  assert.deepEqual([await ask(), await ask()], [other, other])
})

test('a stopped node ends the answers that it has begun', async t => {
  const { supervisor, ask, openSlow } = await siteOf(t, ['1', '2'])
  const { node, rest } = await openSlow()
  const stopped = supervisor.stop(node)
  assert.equal(await rest, 'begun ended')
  assert.match(await stopped, /ended gracefully/)
  assert.notEqual(await ask(), node)
})
