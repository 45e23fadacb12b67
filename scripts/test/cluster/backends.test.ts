// The health of nodes, with servers of this process in place of nodes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { Backends, type Health } from '../../cluster/backends.ts'

const LOOPBACK = '127.0.0.1'
/** An answer that takes this long is late only because the stand-in gives none. */
const TIMING = { everyMs: 10, answerMs: 2_000, lateMax: 2 }

async function serverAt(t: TestContext, statusOf: () => number | null): Promise<Server> {
  const server = createServer((request, response) => {
    assert.equal(request.url, '/readyz')
    const status = statusOf()
    if (status !== null) response.writeHead(status).end()
  }).listen(0, LOOPBACK)
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

function watch(t: TestContext, servers: readonly Server[], timing = TIMING): { backends: Backends; changes: string[] } {
  const changes: string[] = []
  const nodes = servers.map((server, index) => ({
    name: String(index + 1),
    host: LOOPBACK,
    port: (server.address() as AddressInfo).port
  }))
  const backends = new Backends(nodes, (name: string, health: Health) => changes.push(`${name} ${health}`), timing)
  backends.start()
  t.after(() => backends.stop())
  return { backends, changes }
}

test('ready nodes are candidates in rotation, each once', async t => {
  const servers = [await serverAt(t, () => 200), await serverAt(t, () => 200), await serverAt(t, () => 200)]
  const { backends } = watch(t, servers)
  await until(() => backends.candidates().length === 3, 'all are ready')
  const first = backends.candidates().map(({ name }) => name)
  assert.deepEqual(first.toSorted(), ['1', '2', '3'])
  const firsts = Array.from({ length: 6 }, () => backends.candidates()[0]?.name)
  assert.deepEqual(new Set(firsts.slice(0, 3)), new Set(['1', '2', '3']))
  assert.deepEqual(firsts.slice(0, 3), firsts.slice(3))
})

test('a node that answers 503 takes no new connections and keeps those it has', async t => {
  let status = 200
  const { backends, changes } = watch(t, [await serverAt(t, () => status)])
  await until(() => backends.healthOf('1') === 'ready', 'it is ready')
  status = 503
  await until(() => backends.healthOf('1') === 'unready', 'it is not ready')
  assert.deepEqual(backends.candidates(), [])
  status = 200
  await until(() => backends.healthOf('1') === 'ready', 'it is ready again')
  assert.deepEqual(changes, ['1 ready', '1 unready', '1 ready'])
})

test('a node that refuses connections is not ready at once', async t => {
  const server = await serverAt(t, () => 200)
  const { backends, changes } = watch(t, [server])
  await until(() => backends.healthOf('1') === 'ready', 'it is ready')
  server.closeAllConnections()
  server.close()
  await until(() => backends.healthOf('1') === 'unready', 'it is not ready')
  assert.deepEqual(changes, ['1 ready', '1 unready'])
})

test('a node that accepts connections and does not answer is silent after two late answers', async t => {
  let status: number | null = 200
  const { backends, changes } = watch(t, [await serverAt(t, () => status)], { everyMs: 10, answerMs: 500, lateMax: 2 })
  await until(() => backends.healthOf('1') === 'ready', 'it is ready')
  status = null
  await until(() => backends.healthOf('1') === 'silent', 'it is silent')
  // A busy machine may be late itself before.
  assert.deepEqual(changes.slice(-2), ['1 unready', '1 silent'])
})
